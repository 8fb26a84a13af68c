// The tree of one root: the events of an issue, the runs that they caused, the events that those made, and where they were delivered.
import type { Context } from '../../context.ts';
import { isoTime } from '../../changes/operations.ts';
import { shownData, type EventRow } from '../../events/event.ts';
import { mayReadEvent } from '../../rights/rights.ts';
import { short } from '../../changes/diff.ts';
import { isUndone, undoOf } from './decisions.ts';
import type { TrailDelivery, TrailProposal, TrailRun } from './rows.ts';

export interface Sight {
  readonly runs: boolean;
  readonly proposals: boolean;
}

export interface TrailNode {
  readonly id: string;
  readonly parentId: string | null;
  readonly kind: 'event' | 'run' | 'proposal' | 'undo' | 'delivery';
  readonly at: string;
  readonly type: string | null;
  readonly actor: string | null;
  readonly isUndo: boolean;
  readonly fields: readonly { readonly field: string; readonly from: unknown; readonly to: unknown }[];
  readonly run: object | null;
  readonly proposal: object | null;
  readonly undo: object | null;
  readonly delivery: object | null;
}

export interface TrailParts {
  readonly events: readonly EventRow[];
  readonly runs: readonly TrailRun[];
  readonly proposals: readonly TrailProposal[];
  readonly deliveries: readonly TrailDelivery[];
}

const plain = {
  ...{ type: null, actor: null, isUndo: false, fields: [] },
  ...{ run: null, proposal: null, undo: null, delivery: null },
};

/** Each node after the one that it came of, what came of the same in the order of time. */
export function treeOf(
  ctx: Context,
  sight: Sight,
  { events, runs, proposals, deliveries }: TrailParts,
): TrailNode[] {
  const undos = new Map(events.filter(isUndone).map((event) => [event.requestId, undoOf(event).undo.id]));
  const approvals = approvalsOf(proposals, events);
  const undoable = new Set([
    ...runs.map(({ id }) => id),
    ...proposals.map(({ id }) => id),
    ...undos.values(),
  ]);
  const nodes = [
    ...events
      .filter((event) => mayReadEvent(ctx, event))
      .map((event) => (isUndone(event) ? undoNode(event, undoable) : eventNode(event, { undos, approvals }))),
    ...runs.map((run) => runNode(run, sight)),
    ...proposals.map((proposal) => proposalNode(proposal, sight)),
    ...deliveries.map(deliveryNode),
  ];
  const known = new Set(nodes.map(({ id }) => id));
  const below = Map.groupBy(nodes, ({ parentId }) =>
    parentId !== null && known.has(parentId) ? parentId : '',
  );
  const ordered: TrailNode[] = [];
  const add = (parentId: string): void => {
    const children = below.get(parentId) ?? [];
    for (const node of children.sort((a, b) =>
      a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1,
    )) {
      ordered.push(parentId === '' ? { ...node, parentId: null } : node);
      add(node.id);
    }
  };
  add('');
  return ordered;
}

/** The proposal that each event comes of: by its approval, or by being about it. */
function approvalsOf(
  proposals: readonly TrailProposal[],
  events: readonly EventRow[],
): ReadonlyMap<string, string> {
  const known = new Set(proposals.map(({ id }) => id));
  const about = events.filter(({ entityId }) => known.has(entityId));
  return new Map([
    ...proposals.flatMap(({ id, events_json }) =>
      (JSON.parse(events_json) as { id: string }[]).map((event) => [event.id, id] as const),
    ),
    ...about.map((event) => [event.id, event.entityId] as const),
  ]);
}

interface Decided {
  /** Undos, by the request that made them. */
  readonly undos: ReadonlyMap<string | null, string>;
  /** Proposals, by event. */
  readonly approvals: ReadonlyMap<string, string>;
}

function eventNode(event: EventRow, { undos, approvals }: Decided): TrailNode {
  const { id, cause, actor, createdAt, type, requestId } = event;
  const data = shownData(event) as Readonly<Record<string, unknown>>;
  const previous = (data.previous ?? {}) as Readonly<Record<string, unknown>>;
  const undo = requestId === null ? undefined : undos.get(requestId);
  const root = cause.rootEventId === id ? null : cause.rootEventId;
  return {
    ...plain,
    id,
    parentId: undo ?? approvals.get(id) ?? cause.parentRunId ?? root,
    kind: 'event',
    at: isoTime(createdAt),
    type,
    actor: actor.name,
    isUndo: undo !== undefined,
    fields: Object.entries(previous).map(([field, from]) => ({
      field,
      from: short(from),
      to: short(data[field]),
    })),
  };
}

/** @param undoable ids of what is shown, and may have been taken back */
function undoNode(event: EventRow, undoable: ReadonlySet<string>): TrailNode {
  const { undo, undid, changed, skipped } = undoOf(event);
  return {
    ...plain,
    id: undo.id,
    parentId: undid.find((one) => undoable.has(one)) ?? null,
    kind: 'undo',
    at: isoTime(event.createdAt),
    actor: event.actor.name,
    undo: { undid, changed, skipped },
  };
}

function proposalNode(
  { id, run_id, title, status, decided_by_name, undone_by, created_at }: TrailProposal,
  { proposals }: Sight,
): TrailNode {
  const seen = proposals
    ? { title, decidedBy: decided_by_name, undoneBy: undone_by }
    : { title: null, decidedBy: null, undoneBy: null };
  return {
    ...plain,
    ...{ id, parentId: run_id, kind: 'proposal', at: isoTime(created_at) },
    proposal: { status, ...seen },
  };
}

function runNode(run: TrailRun, sight: Sight): TrailNode {
  return {
    ...plain,
    id: run.id,
    parentId: run.event_id,
    kind: 'run',
    at: isoTime(run.created_at),
    run: {
      plugin: run.name ?? run.install_id,
      version: run.version,
      status: run.status,
      ...detailsOf(run, sight),
    },
  };
}

function detailsOf(run: TrailRun, { runs }: Sight) {
  if (!runs) {
    const none = { handler: null, mode: null, ms: null, calls: null, effects: null, error: null };
    return { ...none, undoneBy: null };
  }
  const calls: Record<string, number> = {};
  for (const { op } of JSON.parse(run.calls_json) as { op: string }[]) calls[op] = (calls[op] ?? 0) + 1;
  const error = run.error_json === null ? null : (JSON.parse(run.error_json) as { message: string }).message;
  return {
    handler: run.handler,
    mode: run.mode,
    ms: run.wall_ms,
    calls,
    effects: (JSON.parse(run.effects_json) as unknown[]).length,
    error,
    undoneBy: run.undone_by,
  };
}

function deliveryNode(delivery: TrailDelivery): TrailNode {
  const { id, event_id: parentId, endpoint_id: webhookId, status, attempts, created_at: at } = delivery;
  return {
    ...plain,
    id,
    parentId,
    kind: 'delivery',
    at: isoTime(at),
    delivery: { webhookId, status, attempts },
  };
}
