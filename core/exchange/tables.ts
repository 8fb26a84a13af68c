// What a workspace takes along when it moves to another server, and what it leaves behind. Every table that has rows of workspaces stands
// here. docs/operations/export.md.

export interface Table {
  readonly name: string;
  /** The column by which its rows refer to others of it, which come first. */
  readonly parent?: string;
  /** Only these of its rows: SQL over its columns. */
  readonly where?: string;
  /** Columns that it takes along; the others are, in SQL, as `arrives` says. */
  readonly columns?: readonly string[];
  readonly arrives?: Readonly<Record<string, string>>;
}

/** In an order in which each row finds those that it refers to. */
export const taken: readonly Table[] = [
  { name: 'workspaces' },
  // Where reactions stand in the log, so that what was answered is not answered again; ahead of the events.
  { name: 'cursors', where: "consumer LIKE 'reaction %'" },
  {
    name: 'members',
    columns: [
      'id',
      'name',
      'email',
      'role',
      'teams_json',
      'version',
      'created_at',
      'updated_at',
      'deleted_at',
    ],
    // Nobody has an account on the new server yet.
    arrives: { joined_at: 'NULL', email_key: "lower(trim(value->>'email'))" },
  },
  { name: 'teams' },
  { name: 'states' },
  { name: 'fields' },
  { name: 'labels' },
  { name: 'projects' },
  { name: 'project_updates' },
  { name: 'milestones' },
  { name: 'cycles' },
  { name: 'templates' },
  { name: 'calendars' },
  { name: 'sla_policies' },
  { name: 'issues', parent: 'parent_id' },
  { name: 'issue_labels' },
  { name: 'former_identifiers' },
  { name: 'cycle_issues' },
  { name: 'project_issues' },
  { name: 'boards' },
  { name: 'board_cards' },
  { name: 'views' },
  { name: 'attachment_usage' },
  { name: 'relations' },
  { name: 'sla_clocks' },
  { name: 'attachments' },
  { name: 'comments', parent: 'parent_id' },
  { name: 'reactions' },
  { name: 'subscribers' },
  { name: 'inbox_items' },
  { name: 'inbox_preferences' },
  { name: 'pipelines' },
  { name: 'releases' },
  { name: 'release_issues' },
  { name: 'events' },
  // Alarms that are set; the rest of the queue is work of the server.
  {
    name: 'due_work',
    where:
      "kind NOT IN ('run', 'delivery', 'schedule', 'catch-up', 'replay', 'once', 'proposal', 'backtest', 'purged')",
    columns: ['id', 'kind', 'subject', 'due_at'],
    arrives: { lease_until: '0', lease_owner: 'NULL', epoch: '1' },
  },
];

const sealed = 'its secrets are sealed with the key of the server';
const work = 'it is work of the server that is left';
const words = 'texts are indexed anew where they arrive';
const install = 'plugins are installed anew, with the consent of whoever runs the new server';

export const leftBehind: Readonly<Record<string, string>> = {
  api_keys: 'keys are of a server: new ones are made with `tatami keys create`',
  oauth_apps: 'apps are of a server: they are registered anew where they send people to',
  grants: 'apps ask again where the workspace arrives',
  seats: 'accounts are of a server: people are invited again where they arrive',
  invitations: 'a link leads to the server that made it',
  agent_issues: 'agents are let in anew where they arrive',
  oauth_tokens: 'tokens are of the server that gave them out: apps ask for consent anew',
  endpoints: sealed,
  endpoint_health: sealed,
  deliveries: work,
  attempts: work,
  replays: work,
  runs: work,
  run_records: work,
  kept_changes: 'they are undone where they were made: plugins and their runs stay behind',
  plugins: install,
  plugin_code: install,
  plugin_kv: install,
  plugin_secrets: install,
  journal: work,
  plugin_kv_usage: install,
  plugin_gaps: install,
  one_offs: install,
  plugin_routes: install,
  route_signatures: install,
  plugin_versions: install,
  plugin_usage: install,
  plugin_scope_use: install,
  backtests: work,
  shadows: work,
  past_wants: install,
  idempotency: work,
  proposals: sealed,
  purged_issues: work,
  search_documents: words,
  search_pending: words,
  event_files: 'old events come along whole',
  log_cuts: 'the new server has a history of its own',
};
