// The tree of one root: the events of an issue, the runs that they caused, the events that those made, and where they were delivered.
import type { Context } from '../../context.ts';
import { isoTime } from '../../changes/operations.ts';
import { shownData, type EventRow } from '../../events/event.ts';
import { mayReadEvent } from '../../rights/rights.ts';
import { short } from '../../changes/diff.ts';
import type { TrailDelivery, TrailRun } from './rows.ts';

export interface Sight {
  readonly runs: boolean;
  readonly deliveries: boolean;
}

export interface TrailNode {
  readonly id: string;
  readonly parentId: string | null;
  readonly kind: 'event' | 'run' | 'delivery';
  readonly at: string;
  readonly type: string | null;
  readonly actor: string | null;
  readonly isUndo: boolean;
  readonly fields: readonly { readonly field: string; readonly from: unknown; readonly to: unknown }[];
  readonly run: object | null;
  readonly delivery: object | null;
}

export interface TrailParts {
  readonly events: readonly EventRow[];
  readonly runs: readonly TrailRun[];
  readonly deliveries: readonly TrailDelivery[];
}

const plain = { type: null, actor: null, isUndo: false, fields: [], run: null, delivery: null };

/** Each node after the one that it came of, what came of the same in the order of time. */
export function treeOf(ctx: Context, sight: Sight, { events, runs, deliveries }: TrailParts): TrailNode[] {
  const nodes = [
    ...events.filter((event) => mayReadEvent(ctx, event)).map(eventNode),
    ...runs.map((run) => runNode(run, sight)),
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

function eventNode(event: EventRow): TrailNode {
  const { id, cause, actor, createdAt, type } = event;
  const data = shownData(event) as Readonly<Record<string, unknown>>;
  const previous = (data.previous ?? {}) as Readonly<Record<string, unknown>>;
  return {
    ...plain,
    id,
    parentId: cause.parentRunId ?? (cause.rootEventId === id ? null : cause.rootEventId),
    kind: 'event',
    at: isoTime(createdAt),
    type,
    actor: actor.name,
    isUndo: cause.parentRunId !== null && actor.kind !== 'plugin' && actor.kind !== 'system',
    fields: Object.entries(previous).map(([field, from]) => ({
      field,
      from: short(from),
      to: short(data[field]),
    })),
  };
}

function runNode(run: TrailRun, sight: Sight): TrailNode {
  return {
    ...plain,
    id: run.id,
    parentId: run.event_id,
    kind: 'run',
    at: isoTime(run.created_at),
    run: { plugin: run.name ?? run.install_id, status: run.status, ...detailsOf(run, sight) },
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
