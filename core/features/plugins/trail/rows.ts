// Reads the runs, deliveries and decisions of the trail: one statement for a whole page.
import type { RowOf } from '../../../kernel/table/define.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { Context } from '../../../kernel/context.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { eventsAt } from '../../../kernel/events/log/log.ts';
import { runTable } from '../tables.ts';
import { storedChangesOf } from '../undo/stored-changes.ts';

const runColumns = [
  ...(['id', 'install_id', 'handler', 'handler_kind', 'event_id', 'status', 'mode', 'wall_ms'] as const),
  ...(['events_json', 'calls_json', 'effects_json', 'error_json', 'created_at'] as const),
] as const;
export interface TrailRun extends Pick<RowOf<typeof runTable>, (typeof runColumns)[number]> {
  readonly name: string | null;
  /** Version of the plugin that ran; null if no attempt has ended. */
  readonly version: string | null;
  readonly undone_by: string | null;
}

/** Limit of runs per page. A root has at most 25, plus its cut runs. */
const runsMax = 500;
const deliveriesMax = 500;

const columns = `${runColumns.map((column) => `r.${column}`).join(', ')}, r.plugin_version AS version,
  coalesce(p.manifest_json->>'name', p.plugin_id,
    (SELECT a.name FROM automations AS a WHERE a.workspace_id = :ws AND a.id = r.install_id)) AS name,
  (SELECT k.undone_by FROM stored_changes AS k WHERE k.workspace_id = :ws AND k.id = r.id) AS undone_by`;
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
  (SELECT k.undone_by FROM stored_changes AS k WHERE k.workspace_id = :ws AND k.id = p.id) AS undone_by`;
const proposalsByIds = tenantStatement<TrailProposal>(
  'trail.proposals_by_ids',
  `SELECT ${proposalColumns} FROM json_each(:ids) AS one CROSS JOIN proposals AS p ON p.workspace_id = :ws AND p.id = one.value
     LIMIT ${runsMax}`,
);
/** Proposals made by API requests have no run, so they are found by issue. */
const proposalsOfRequests = tenantStatement<TrailProposal>(
  'trail.proposals_of_requests',
  `SELECT ${proposalColumns} FROM proposals AS p INDEXED BY proposals_created WHERE p.workspace_id = :ws AND p.source = 'request'
     AND instr(p.issue_ids_json, :issue) > 0 ORDER BY p.created_at DESC LIMIT ${proposalsMax}`,
);

/** Events of proposals, and of the undos of proposals and runs. */
const decisionsOf = tenantStatement<{ sequence: number }>(
  'trail.decisions',
  `SELECT e.sequence FROM json_each(:ids) AS one CROSS JOIN events AS e INDEXED BY events_object ON e.workspace_id = :ws
     AND e.issue_id IS NULL AND e.entity_type = :kind AND e.entity_id = one.value LIMIT ${runsMax}`,
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

/** Limit of the depth to which undos of undos are followed. */
const undosDeep = 5;

interface TrailDecisions {
  readonly proposals: readonly TrailProposal[];
  /** Events such as `automation.approved` and `automation.undone`. */
  readonly events: readonly EventRow[];
}

export const isUndone = ({ type }: EventRow): boolean => type === 'automation.undone';
const isOfProposal = ({ entityType }: EventRow): boolean => entityType === 'proposal';

/** Returns the data of `automation.undone`. */
export function undoOf({ data }: EventRow) {
  return data as {
    readonly undo: { readonly id: string };
    readonly undid: readonly string[];
    readonly changed: number;
    readonly skipped: number;
  };
}

/** @param events events of the page, including those that its runs emitted */
export async function decisionsIn(
  ctx: Context,
  issueId: string,
  runs: readonly TrailRun[],
  events: readonly EventRow[],
): Promise<TrailDecisions> {
  const { store, scope } = ctx;
  const proposed = new Set(events.filter(isOfProposal).map(({ entityId }) => entityId));
  const ofRuns = await store.read(scope, proposalsByIds, { ids: JSON.stringify([...proposed]) });
  const ofRequests = await store.read(scope, proposalsOfRequests, { issue: JSON.stringify(issueId) });
  const proposals = [...ofRuns, ...ofRequests];
  const ids = proposals.map(({ id }) => id);
  const decided = await eventsOf(ctx, 'proposal', ids);
  return { proposals, events: [...decided, ...(await undosOf(ctx, [...runs, ...proposals]))] };
}

/**
 * Finds the events of undos. Such an event is stored under the newest run, proposal or undo that was undone.
 */
async function undosOf(ctx: Context, did: readonly (TrailRun | TrailProposal)[]): Promise<EventRow[]> {
  const by = [...new Set(did.flatMap(({ undone_by }) => undone_by ?? []))];
  const retained = by.length === 0 ? [] : await storedChangesOf(ctx.store, ctx.scope, by);
  const newest = retained.flatMap(({ undid_json }) =>
    (JSON.parse(undid_json ?? '[]') as string[]).slice(0, 1),
  );
  const undos: EventRow[] = [];
  let ids = [...new Set([...did.map(({ id }) => id), ...newest])];
  for (let deep = 0; ids.length > 0 && deep < undosDeep; deep++) {
    const undoEvents = (await eventsOf(ctx, 'automation', ids)).filter(isUndone);
    undos.push(...undoEvents);
    ids = undoEvents.map((event) => undoOf(event).undo.id);
  }
  return undos;
}

async function eventsOf(
  ctx: Context,
  kind: 'proposal' | 'automation',
  ids: readonly string[],
): Promise<EventRow[]> {
  if (ids.length === 0) return [];
  const rows = await ctx.store.read(ctx.scope, decisionsOf, { kind, ids: JSON.stringify(ids) });
  return eventsOfRows(ctx, rows);
}

export function eventsOfRows(
  { store, scope }: Context,
  rows: readonly { readonly sequence: number }[],
): Promise<EventRow[]> {
  const sequences = rows.map(({ sequence }) => sequence);
  return eventsAt(store, scope, sequences);
}

/**
 * Selects the decisions of one tree.
 * @param runs ids of the runs of the tree
 * @param events events of the tree
 */
export function decisionsOfTree(
  { proposals, events: decisions }: TrailDecisions,
  runs: ReadonlySet<string>,
  events: readonly EventRow[],
): TrailDecisions {
  const ids = new Set(events.map(({ id }) => id));
  const own = proposals.filter(
    ({ run_id, events_json }) =>
      (run_id !== null && runs.has(run_id)) ||
      (JSON.parse(events_json) as { id: string }[]).some(({ id }) => ids.has(id)),
  );
  const known = new Set([...runs, ...own.map(({ id }) => id)]);
  const retained: EventRow[] = [];
  for (const event of decisions.toSorted((a, b) => a.sequence - b.sequence)) {
    const isOwn = isUndone(event)
      ? undoOf(event).undid.some((id) => known.has(id))
      : known.has(event.entityId);
    if (!isOwn) continue;
    retained.push(event);
    if (isUndone(event)) known.add(undoOf(event).undo.id);
  }
  return { proposals: own, events: retained };
}
