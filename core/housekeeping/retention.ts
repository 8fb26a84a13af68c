// How long each table keeps its rows: every table of the schema stands here, and what makes its rows go.
// docs/spec/durability.md › Retention.
import type { Config } from '../config.ts';

/** A setting in days; those of this list that are null keep for ever. */
export type Kept = Config['kept'];

type Bound =
  /** Housekeeping removes them so long after they ended, were deleted or expired. */
  | { readonly keptFor: keyof Kept }
  /** Housekeeping removes them as soon as nothing needs them. */
  | { readonly keptWhile: string }
  /** Something else bounds them. */
  | { readonly boundBy: string }
  /** They are what Tatami is for. */
  | { readonly keptForEver: string };

const few = 'people make them one by one, and issues, keys and history refer to them';

export const retention: Readonly<Record<string, Bound>> = {
  issues: { keptFor: 'deleted' },
  purged_issues: { boundBy: 'each goes once nothing that others kept speaks of it' },
  issue_labels: { keptWhile: 'their issue and their label are there' },
  comments: { keptFor: 'deleted' },
  relations: { keptFor: 'deleted' },
  former_identifiers: { boundBy: 'one for each identifier of an issue that was moved or purged' },
  templates: { keptFor: 'deleted' },
  search_documents: { boundBy: 'each goes when its issue or comment is deleted' },
  search_pending: { boundBy: 'each goes once its text is indexed' },
  search_index: { boundBy: 'each goes with its row of search_documents' },
  attachments: { keptFor: 'deleted' },
  attachment_usage: { boundBy: 'one for each workspace' },
  reactions: { keptFor: 'deleted' },
  subscribers: { keptWhile: 'their issue is there' },
  agent_issues: { keptWhile: 'their issue is there' },
  inbox_items: { keptFor: 'deleted' },
  inbox_preferences: { boundBy: 'one for each member' },
  labels: { keptFor: 'deleted' },
  boards: { keptFor: 'deleted' },
  board_cards: { keptWhile: 'their board and their issue are there' },
  order_versions: { keptWhile: 'their board or issue is there; teams, projects and workspaces stay' },
  views: { keptFor: 'deleted' },
  plugins: { keptFor: 'deleted' },
  endpoints: { keptFor: 'deleted' },
  api_keys: { keptFor: 'deleted' },
  oauth_apps: { keptFor: 'deleted' },
  oauth_clients: { keptWhile: 'somebody lets them act; those that nobody does for a day, 10,000 at most' },
  grants: { keptFor: 'deleted' },
  members: { keptForEver: few },
  teams: { keptForEver: few },
  states: { keptForEver: few },
  projects: { keptForEver: few },
  project_updates: { keptFor: 'deleted' },
  milestones: { keptFor: 'deleted' },
  pipelines: { keptFor: 'deleted' },
  releases: { keptFor: 'deleted' },
  release_issues: { keptWhile: 'their release and their issue are there' },
  fields: { keptForEver: few },
  workspaces: { keptForEver: few },
  cycles: { keptForEver: 'a team makes one every few weeks, and issues, numbers and progress refer to them' },
  cycle_issues: {
    boundBy: 'one for each issue that was in a cycle, by which its progress is read from the log',
  },
  project_issues: {
    boundBy: 'one for each issue that was in a project, by which its days are read from the log',
  },
  calendars: { keptForEver: few },
  sla_policies: { keptForEver: few },
  sla_clocks: { keptWhile: 'their issue is there' },
  events: {
    keptForEver: 'they are history and audit log; what old ones say may be moved to files (`events`)',
  },
  event_files: { boundBy: 'one for some hundred archived events' },
  runs: { keptFor: 'runs' },
  run_records: { keptFor: 'recordings' },
  kept_changes: { keptFor: 'undo' },
  deliveries: { keptFor: 'deliveries' },
  attempts: { keptWhile: 'their delivery is there' },
  replays: { keptFor: 'deliveries' },
  plugin_gaps: { keptFor: 'deliveries' },
  one_offs: { boundBy: 'each goes when its time has come or its plugin is removed; 1,000 for each plugin' },
  plugin_routes: { boundBy: 'one for each route of a plugin; each goes with it' },
  route_signatures: { boundBy: 'each expires after ten minutes' },
  backtests: { keptFor: 'runs' },
  shadows: { keptWhile: 'their install is there; one of each' },
  endpoint_health: { keptWhile: 'their endpoint is there' },
  journal: { keptFor: 'runs' },
  plugin_secrets: { boundBy: 'each goes with its install' },
  proposals: { keptFor: 'runs' },
  plugin_code: { keptWhile: 'an install runs it, or can go back to it' },
  plugin_versions: { keptWhile: 'their install is there; the last 20 of each' },
  plugin_usage: { keptFor: 'deliveries' },
  plugin_scope_use: { keptWhile: 'their install is there' },
  plugin_kv: { keptWhile: 'their install is there; each has a quota' },
  plugin_kv_usage: { keptWhile: 'their install is there' },
  accounts: { keptForEver: few },
  seats: { boundBy: 'one for each member who has signed in' },
  sessions: { boundBy: 'each expires after a month' },
  invitations: { boundBy: 'one for each member; each expires after a week' },
  oauth_tokens: { keptWhile: 'they have not expired: a refresh token does after two months without use' },
  passkeys: { boundBy: 'up to 20 for each account' },
  one_time_codes: { boundBy: 'one for each account' },
  recovery_codes: { boundBy: 'ten for each account; each goes when it is used' },
  outside_accounts: { boundBy: 'one for each provider and account' },
  ceremonies: { boundBy: 'each expires after ten minutes' },
  password_resets: { boundBy: 'one for each account; each expires after half an hour' },
  idempotency: { boundBy: 'each expires after a day' },
  due_work: { boundBy: 'each goes with the work it stands for' },
  cursors: { boundBy: 'one for each consumer and workspace' },
  past_wants: { boundBy: 'each goes once its consumer has read on' },
  wall_clock: { boundBy: 'one for each kind of work' },
  log_cuts: { boundBy: 'one for each restore' },
  installation: { boundBy: 'one row' },
  log_head: { boundBy: 'one row' },
  migrations: { boundBy: 'one for each version of the schema' },
};
