// Retention of each table of the schema, and the condition under which its rows are removed.
// docs/spec/durability.md › Retention.
import type { Config } from '../config/config.ts';

/** Retention settings in days; null disables removal. */
export type RetentionSettings = Config['retention'];

type Bound =
  /** Housekeeping removes rows this long after they ended, were deleted or expired. */
  | { readonly retainedFor: keyof RetentionSettings }
  /** Housekeeping removes rows as soon as nothing needs them. */
  | { readonly retainedWhile: string }
  /** Another rule bounds the number of rows. */
  | { readonly boundBy: string }
  /** Rows are never removed. */
  | { readonly retainedForever: string };

const few = 'people create them one by one, and issues, keys and history refer to them';

export const retention: Readonly<Record<string, Bound>> = {
  issues: { retainedFor: 'deleted' },
  purged_issues: { boundBy: 'each is removed once no stored data refers to the issue' },
  issue_labels: { retainedWhile: 'their issue and their label exist' },
  comments: { retainedFor: 'deleted' },
  relations: { retainedFor: 'deleted' },
  former_identifiers: { boundBy: 'one for each identifier of an issue that was moved or purged' },
  templates: { retainedFor: 'deleted' },
  search_documents: { boundBy: 'each is removed when its issue or comment is deleted' },
  search_pending: { boundBy: 'each is removed once its text is indexed' },
  search_index: { boundBy: 'each is removed with its row of search_documents' },
  attachments: { retainedFor: 'deleted' },
  attachment_usage: { boundBy: 'one for each workspace' },
  reactions: { retainedFor: 'deleted' },
  subscribers: { retainedWhile: 'their issue exists' },
  agent_issues: { retainedWhile: 'their issue exists' },
  inbox_items: { retainedFor: 'deleted' },
  inbox_preferences: { boundBy: 'one for each member' },
  labels: { retainedFor: 'deleted' },
  boards: { retainedFor: 'deleted' },
  board_cards: { retainedWhile: 'their board and their issue exist' },
  order_versions: {
    retainedWhile: 'their board or issue exists; those of teams, projects and workspaces are permanent',
  },
  views: { retainedFor: 'deleted' },
  plugins: { retainedFor: 'deleted' },
  endpoints: { retainedFor: 'deleted' },
  api_keys: { retainedFor: 'deleted' },
  oauth_apps: { retainedFor: 'deleted' },
  oauth_clients: {
    retainedWhile: 'a grant refers to them; those without a grant for one day, at most 10,000',
  },
  grants: { retainedFor: 'deleted' },
  members: { retainedForever: few },
  teams: { retainedForever: few },
  states: { retainedForever: few },
  projects: { retainedForever: few },
  project_updates: { retainedFor: 'deleted' },
  milestones: { retainedFor: 'deleted' },
  pipelines: { retainedFor: 'deleted' },
  releases: { retainedFor: 'deleted' },
  release_issues: { retainedWhile: 'their release and their issue exist' },
  fields: { retainedForever: few },
  workspaces: { retainedForever: few },
  cycles: {
    retainedForever: 'a team creates one every few weeks, and issues, numbers and progress refer to them',
  },
  cycle_issues: {
    boundBy: 'one for each issue that was in a cycle; they select the events from which progress is computed',
  },
  project_issues: {
    boundBy:
      'one for each issue that was in a project; they select the events from which daily progress is computed',
  },
  calendars: { retainedForever: few },
  sla_policies: { retainedForever: few },
  sla_clocks: { retainedWhile: 'their issue exists' },
  events: {
    retainedForever:
      'they are the history and the audit log; the content of old events may be moved to files (`events`)',
  },
  event_files: { boundBy: 'one for a few hundred archived events' },
  runs: { retainedFor: 'runs' },
  run_records: { retainedFor: 'recordings' },
  stored_changes: { retainedFor: 'undo' },
  deliveries: { retainedFor: 'deliveries' },
  attempts: { retainedWhile: 'their delivery exists' },
  replays: { retainedFor: 'deliveries' },
  plugin_backfills: { retainedFor: 'deliveries' },
  one_time_jobs: {
    boundBy: 'each is removed when it is due or its plugin is removed; at most 1,000 for each plugin',
  },
  plugin_routes: { boundBy: 'one for each route of a plugin, removed with the plugin' },
  route_signatures: { boundBy: 'each expires after ten minutes' },
  backtests: { retainedFor: 'runs' },
  shadows: { retainedWhile: 'their install exists; one for each install' },
  endpoint_health: { retainedWhile: 'their endpoint exists' },
  journal: { retainedFor: 'runs' },
  plugin_secrets: { boundBy: 'each is removed with its install' },
  proposals: { retainedFor: 'runs' },
  plugin_code: { retainedWhile: 'an install runs it or can roll back to it' },
  plugin_versions: { retainedWhile: 'their install exists; the last 20 of each install' },
  plugin_usage: { retainedFor: 'deliveries' },
  plugin_scope_use: { retainedWhile: 'their install exists' },
  plugin_kv: { retainedWhile: 'their install exists; each install has a quota' },
  plugin_kv_usage: { retainedWhile: 'their install exists' },
  accounts: { retainedForever: few },
  memberships: { boundBy: 'one for each member who has signed in' },
  sessions: { boundBy: 'each expires after a month' },
  invitations: { boundBy: 'one for each member; each expires after a week' },
  oauth_tokens: { retainedWhile: 'they have not expired: a refresh token does after two months without use' },
  passkeys: { boundBy: 'up to 20 for each account' },
  one_time_codes: { boundBy: 'one for each account' },
  recovery_codes: { boundBy: 'ten for each account; each is removed when it is used' },
  linked_accounts: { boundBy: 'one for each provider and account' },
  challenges: { boundBy: 'each expires after ten minutes' },
  password_resets: { boundBy: 'one for each account; each expires after half an hour' },
  idempotency: { boundBy: 'each expires after a day' },
  due_work: { boundBy: 'each is removed with the work that it represents' },
  cursors: { boundBy: 'one for each consumer and workspace' },
  past_subscriptions: { boundBy: 'each is removed once its consumer has advanced past it' },
  wall_clock: { boundBy: 'one for each type of work' },
  log_cuts: { boundBy: 'one for each restore' },
  installation: { boundBy: 'one row' },
  log_head: { boundBy: 'one row' },
  migrations: { boundBy: 'one for each version of the schema' },
};
