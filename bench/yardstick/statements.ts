// Statements and rows of the baseline server, frozen on 2026-11-28: those that a get, a list and a creation of Tatami ran then. They never
// follow Tatami's statements; otherwise a costlier statement would slow both sides and remain unnoticed.

const columns = [
  ...[
    'id',
    'version',
    'number',
    'title',
    'description',
    'state_id',
    'priority',
    'assignee_id',
    'creator_kind',
  ],
  ...['creator_id', 'creator_name', 'team_id', 'project_id', 'milestone_id', 'parent_id', 'sub_order'],
  ...['snoozed_until', 'started_at', 'completed_at', 'canceled_at', 'estimate', 'cycle_id', 'due_date'],
  ...[
    'sla_due_at',
    'external_source',
    'external_id',
    'fields_json',
    'created_at',
    'updated_at',
    'deleted_at',
  ],
];
const derived = `(SELECT group_concat(label_id) FROM issue_labels WHERE workspace_id = ?1 AND issue_id = issues.id) AS x_labels,
  (SELECT p.team_id || ' ' || p.number FROM issues AS p WHERE p.workspace_id = ?1 AND p.id = issues.parent_id) AS x_parent`;
const shortened = columns.map((column) =>
  column === 'description' || column === 'fields_json'
    ? `CASE WHEN octet_length(${column}) > 8192 THEN octet_length(${column}) ELSE ${column} END AS ${column}`
    : column,
);

/** ?1 workspace, ?2 id of the issue. */
export const getIssue = `SELECT ${columns.join()}, ${derived} FROM issues WHERE workspace_id = ?1 AND id = ?2`;

/** ?1 workspace, ?2 limit. */
export const listIssues = `SELECT ${shortened.join()}, ${derived}, created_at AS k0, id AS k1
  FROM issues WHERE workspace_id = ?1 AND deleted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT ?2`;

/** ?1 workspace, ?2 team. */
export const takeNumber = `UPDATE teams SET issue_count = issue_count + 1
  WHERE workspace_id = ?1 AND id = ?2 AND archived_at IS NULL`;

/** Columns of `insertIssue`, in the order of its parameters. */
export const inserted = ['workspace_id', ...columns.filter((column) => column !== 'number')];

const teamAt = inserted.indexOf('team_id') + 1;
export const insertIssue = `INSERT INTO issues (${inserted.join()}, number)
  VALUES (${inserted.map((_, at) => `?${at + 1}`).join()},
    (SELECT issue_count FROM teams WHERE workspace_id = ?1 AND id = ?${teamAt}))`;

/** ?1 workspace, ?2 id of the issue. */
export const noteSearch = `INSERT INTO search_pending (workspace_id, id, revision) VALUES (?1, ?2, 1)
  ON CONFLICT DO UPDATE SET revision = revision + 1`;

/** ?1 workspace, ?2 id of the event, ?3 time, ?4 id of the issue, ?5 actor, ?6 id of the request, ?7 and ?8 content. */
export const appendEvent = `INSERT INTO events (workspace_id, sequence, id, type, created_at, entity_type, entity_id, issue_id, number,
    actor_json, cause_json, request_id, traceparent, data_json, packed)
  VALUES (?1, (SELECT coalesce(max(sequence), 0) + 1 FROM events WHERE workspace_id = ?1), ?2, 'issue.created', ?3,
    'issue', ?4, ?4, (SELECT number FROM issues WHERE workspace_id = ?1 AND id = ?4), ?5, '', ?6, NULL, ?7, ?8)
  RETURNING number`;

/** Every column of an issue but those that differ from one to the next. */
export const issueDefaults = {
  version: 1,
  description: '',
  priority: 4,
  assignee_id: null,
  creator_kind: 'user',
  project_id: null,
  milestone_id: null,
  parent_id: null,
  sub_order: null,
  snoozed_until: null,
  started_at: null,
  completed_at: null,
  canceled_at: null,
  estimate: null,
  cycle_id: null,
  due_date: null,
  sla_due_at: 8_640_000_000_000_000,
  external_source: null,
  external_id: null,
  fields_json: null,
  deleted_at: null,
};
