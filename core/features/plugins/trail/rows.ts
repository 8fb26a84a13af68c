// Statements of the trail for runs, their plugins and deliveries: one statement for a whole page.
import { tenantStatement } from '../../../platform/store/statement.ts';

export interface TrailRun {
  readonly id: string;
  readonly install_id: string;
  readonly name: string | null;
  /** Version of the plugin that ran; null if no attempt has ended. */
  readonly version: string | null;
  readonly handler: string;
  readonly handler_kind: string;
  readonly event_id: string | null;
  readonly status: string;
  readonly mode: string;
  readonly wall_ms: number | null;
  readonly events_json: string;
  readonly calls_json: string;
  readonly effects_json: string;
  readonly error_json: string | null;
  readonly created_at: number;
  readonly undone_by: string | null;
}

/** Limit of runs per page. A root has at most 25, plus its cut runs. */
const runsMax = 500;
const deliveriesMax = 500;

const columns = `r.id, r.install_id, coalesce(p.manifest_json->>'name', p.plugin_id) AS name,
  r.plugin_version AS version, r.handler, r.handler_kind, r.event_id, r.status, r.mode, r.wall_ms, r.events_json, r.calls_json, r.effects_json, r.error_json, r.created_at,
  (SELECT k.undone_by FROM kept_changes AS k WHERE k.workspace_id = :ws AND k.id = r.id) AS undone_by`;
const plugins = 'LEFT JOIN plugins AS p ON p.workspace_id = :ws AND p.id = r.install_id';

export const runsOfRoots = tenantStatement<TrailRun>(
  'trail.runs_of_roots',
  `SELECT ${columns} FROM json_each(:roots) AS root CROSS JOIN runs AS r INDEXED BY runs_root
     ON r.workspace_id = :ws AND r.root_event_id = root.value ${plugins} LIMIT ${runsMax}`,
);
/** Runs of schedules have no root event, so they are read by id. */
export const runsByIds = tenantStatement<TrailRun>(
  'trail.runs_by_ids',
  `SELECT ${columns} FROM json_each(:ids) AS one CROSS JOIN runs AS r ON r.workspace_id = :ws AND r.id = one.value ${plugins}
     LIMIT ${runsMax}`,
);

export interface TrailProposal {
  readonly id: string;
  readonly run_id: string | null;
  readonly title: string;
  readonly status: string;
  readonly decided_by_name: string | null;
  readonly events_json: string;
  readonly created_at: number;
  readonly undone_by: string | null;
}

const proposalsMax = 100;
const proposalColumns = `p.id, p.run_id, p.title, p.status, p.decided_by_name, p.events_json, p.created_at,
  (SELECT k.undone_by FROM kept_changes AS k WHERE k.workspace_id = :ws AND k.id = p.id) AS undone_by`;
export const proposalsByIds = tenantStatement<TrailProposal>(
  'trail.proposals_by_ids',
  `SELECT ${proposalColumns} FROM json_each(:ids) AS one CROSS JOIN proposals AS p ON p.workspace_id = :ws AND p.id = one.value
     LIMIT ${runsMax}`,
);
/** Proposals made by API requests have no run, so they are found by issue. */
export const proposalsOfRequests = tenantStatement<TrailProposal>(
  'trail.proposals_of_requests',
  `SELECT ${proposalColumns} FROM proposals AS p INDEXED BY proposals_created WHERE p.workspace_id = :ws AND p.source = 'request'
     AND instr(p.issue_ids_json, :issue) > 0 ORDER BY p.created_at DESC LIMIT ${proposalsMax}`,
);

/** Events of proposals, and of the undos of proposals and runs. */
export const decisionsOf = tenantStatement<{ sequence: number }>(
  'trail.decisions',
  `SELECT e.sequence FROM json_each(:ids) AS one CROSS JOIN events AS e INDEXED BY events_object ON e.workspace_id = :ws
     AND e.issue_id IS NULL AND e.entity_kind = :kind AND e.entity_id = one.value LIMIT ${runsMax}`,
);

export interface TrailDelivery {
  readonly id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly status: string;
  readonly attempts: number;
  readonly created_at: number;
}

export const deliveriesOfEvents = tenantStatement<TrailDelivery>(
  'trail.deliveries',
  `SELECT d.id, d.endpoint_id, d.event_id, d.status, d.attempts, d.created_at FROM json_each(:ids) AS one
     CROSS JOIN deliveries AS d INDEXED BY deliveries_event ON d.workspace_id = :ws AND d.event_id = one.value LIMIT ${deliveriesMax}`,
);

export const newestOfIssue = tenantStatement<{ sequence: number }>(
  'trail.newest_of_issue',
  `SELECT sequence FROM events INDEXED BY events_issue WHERE workspace_id = :ws AND issue_id = :issueId AND sequence < :before
     ORDER BY sequence DESC LIMIT :limit`,
);

export const sequencesOfEvents = tenantStatement<{ sequence: number }>(
  'trail.events_by_ids',
  `SELECT e.sequence FROM json_each(:ids) AS one CROSS JOIN events AS e INDEXED BY events_id
     ON e.workspace_id = :ws AND e.id = one.value`,
);
