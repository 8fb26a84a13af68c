// Builds the tree of one root: events, the runs that they caused, the events of those runs, and the
// deliveries.
import type { Context, Directory } from '../../../kernel/context.ts';
import { isoTime } from '../../../kernel/changes/operations.ts';
import { renderData, type EventRow } from '../../../kernel/events/event.ts';
import { mayReadEvent, type Rights } from '../../../kernel/rights/rights.ts';
import { redactEventData } from '../../../kernel/rights/effects.ts';
import type { RunError } from '../runs/errors.ts';
import { short } from '../../../kernel/changes/change.ts';
import { isUndone, undoOf, type TrailDelivery, type TrailProposal, type TrailRun } from './rows.ts';

export interface TrailVisibility {
  readonly runs: boolean;
  /** Text written by plugins, which may hold data from other servers. */
  readonly text: boolean;
  readonly proposals: boolean;
}

export interface TrailNode {
  readonly id: string;
  readonly parentId: string | null;
  readonly kind: 'event' | 'run' | 'proposal' | 'undo' | 'delivery';
  readonly at: string;
  readonly type: string | null;
  readonly types: readonly string[];
  readonly actor: string | null;
  readonly name: string | null;
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
  type: null,
  types: [],
  actor: null,
  name: null,
  isUndo: false,
  fields: [],
  run: null,
  proposal: null,
  undo: null,
  delivery: null,
};

/** Returns each node after its parent, siblings by time. */
export function treeOf(
  ctx: Context,
  visibility: TrailVisibility,
  { events, runs, proposals, deliveries }: TrailParts,
): TrailNode[] {
  const undos = new Map(events.filter(isUndone).map((event) => [event.requestId, undoOf(event).undo.id]));
  const approvals = approvalsOf(proposals, events);
  const undoable = new Set([
    ...runs.map(({ id }) => id),
    ...proposals.map(({ id }) => id),
    ...undos.values(),
  ]);
  const { directory } = ctx;
  const readable = events.filter((event) => mayReadEvent(ctx, event));
  const commits = commitsOf(readable);
  const lineOf = new Map(commits.flatMap(([first, ...others]) => others.map(({ id }) => [id, first.id])));
  const nodes = [
    ...commits.map((commit) =>
      isUndone(commit[0])
        ? undoNode(commit[0], { undoable, directory })
        : eventNode(ctx, commit, { undos, approvals, directory }),
    ),
    ...runs.map((run) => runNode(run, visibility)),
    ...proposals.map((proposal) => proposalNode(proposal, visibility)),
    ...deliveries.map(deliveryNode),
  ];
  const known = new Set(nodes.map(({ id }) => id));
  const parentOf = ({ parentId }: TrailNode): string =>
    parentId === null ? '' : (lineOf.get(parentId) ?? parentId);
  const below = Map.groupBy(nodes, (node) => (known.has(parentOf(node)) ? parentOf(node) : ''));
  const ordered: TrailNode[] = [];
  const add = (parentId: string): void => {
    const children = below.get(parentId) ?? [];
    for (const node of children.sort((a, b) =>
      a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1,
    )) {
      ordered.push({ ...node, parentId: parentId === '' ? null : parentId });
      add(node.id);
    }
  };
  add('');
  return ordered;
}

/** One change can emit several events; the first is the most general. */
export function isSameChange(one: EventRow, other: EventRow): boolean {
  return one.entityId === other.entityId && one.data.version === other.data.version;
}

type Commit = readonly [EventRow, ...EventRow[]];

/** Groups the events by change, each group in order. */
function commitsOf(events: readonly EventRow[]): Commit[] {
  const byCommit = Map.groupBy(
    events.toSorted((a, b) => a.sequence - b.sequence),
    ({ id, entityType, entityId, data: { version }, createdAt, requestId, cause }) =>
      version === undefined
        ? id
        : [entityType, entityId, version, createdAt, requestId, cause.parentRunId].join(' '),
  );
  return [...byCommit.values()].map(([first, ...others]) => [first!, ...others]);
}

/** Returns the name of the member instead of the name of the member's key. */
function nameOfActor({ name, memberId }: EventRow['actor'], { members }: Directory): string {
  return (memberId === undefined ? undefined : members.get(memberId)?.name) ?? name;
}

/**
 * Returns the proposal of each event, by event id: the one whose approval made the event, or the one that the
 * event is about.
 */
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
  /** Undo ids by the request that made them. */
  readonly undos: ReadonlyMap<string | null, string>;
  /** Proposal ids by event id. */
  readonly approvals: ReadonlyMap<string, string>;
  readonly directory: Directory;
}

function eventNode(rights: Rights, commit: Commit, { undos, approvals, directory }: Decided): TrailNode {
  const [event] = commit;
  const { id, cause, actor, createdAt, type, requestId } = event;
  const undo = requestId === null ? undefined : undos.get(requestId);
  const root = cause.rootEventId === id ? null : cause.rootEventId;
  const readable = commit.map((one) => redactEventData(rights, { type: one.type, data: renderData(one) }));
  return {
    ...plain,
    id,
    parentId: undo ?? approvals.get(id) ?? cause.parentRunId ?? root,
    kind: 'event',
    at: isoTime(createdAt),
    type,
    types: commit.map((one) => one.type),
    actor: nameOfActor(actor, directory),
    name: nameIn(readable[0]!),
    isUndo: undo !== undefined,
    fields: fieldsOf(commit, readable),
  };
}

/** Returns the name of the attachment or of the other issue; null for other events, and if redacted. */
function nameIn(data: EventRow['data']): string | null {
  const { attachment, relation } = data as {
    readonly attachment?: { readonly title?: string } | null;
    readonly relation?: {
      readonly type: string;
      readonly issue: { readonly identifier: string | null } | null;
    } | null;
  };
  const identifier = relation?.issue?.identifier;
  return identifier ? `${relation!.type.replaceAll('_', ' ')} ${identifier}` : (attachment?.title ?? null);
}

/** @param readable data of the events, without what the caller may not read */
function fieldsOf(commit: Commit, readable: readonly EventRow['data'][]): TrailNode['fields'] {
  const fields = new Map<string, TrailNode['fields'][number]>();
  for (const [at, event] of commit.entries()) {
    const data = readable[at]!;
    for (const [field, from] of Object.entries(previousOf(event, data)))
      fields.set(field, { field, from: short(from), to: short(data[field]) });
  }
  return [...fields.values()];
}

/** A recomputed proposal shows only its revision. */
function previousOf({ type }: EventRow, { previous, revision }: Readonly<Record<string, unknown>>): object {
  if (type === 'automation.proposed' && typeof revision === 'number' && revision > 1)
    return { revision: revision - 1 };
  return previous ?? {};
}

/** @param undoable ids of the shown nodes that an undo can revert */
function undoNode(
  event: EventRow,
  { undoable, directory }: { readonly undoable: ReadonlySet<string>; readonly directory: Directory },
): TrailNode {
  const { undo, undid, changed, skipped } = undoOf(event);
  return {
    ...plain,
    id: undo.id,
    parentId: undid.find((one) => undoable.has(one)) ?? null,
    kind: 'undo',
    at: isoTime(event.createdAt),
    actor: nameOfActor(event.actor, directory),
    undo: { undid, changed, skipped },
  };
}

function proposalNode(
  { id, run_id, title, status, decided_by_name, undone_by, created_at }: TrailProposal,
  { proposals }: TrailVisibility,
): TrailNode {
  const seen = proposals
    ? { title, decidedBy: decided_by_name, undoneBy: undone_by }
    : { title: null, decidedBy: null, undoneBy: null };
  return {
    ...plain,
    id,
    parentId: run_id,
    kind: 'proposal',
    at: isoTime(created_at),
    proposal: { status, ...seen },
  };
}

function runNode(run: TrailRun, visibility: TrailVisibility): TrailNode {
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
      ...detailsOf(run, visibility),
    },
  };
}

function detailsOf(run: TrailRun, { runs, text }: TrailVisibility) {
  if (!runs) {
    const none = { handler: null, mode: null, ms: null, calls: null, effects: null, error: null };
    return { ...none, undoneBy: null };
  }
  const calls: Record<string, number> = {};
  for (const { op } of JSON.parse(run.calls_json) as { op: string }[]) calls[op] = (calls[op] ?? 0) + 1;
  const error = run.error_json === null ? null : (JSON.parse(run.error_json) as RunError);
  return {
    handler: run.handler,
    mode: run.mode,
    ms: run.wall_ms,
    calls,
    effects: (JSON.parse(run.effects_json) as unknown[]).length,
    error: error && (text ? error.message : error.code),
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
