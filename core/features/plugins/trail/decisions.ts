// Reads the decisions on one page of the trail: proposals with their outcomes, and undos.
import type { Context } from '../../../kernel/context.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { eventsAt } from '../../../kernel/events/log/log.ts';
import { storedChangesOf } from '../undo/stored-changes.ts';
import {
  decisionsOf,
  proposalsByIds,
  proposalsOfRequests,
  type TrailProposal,
  type TrailRun,
} from './rows.ts';

/** Limit of the depth to which undos of undos are followed. */
const undosDeep = 5;

export interface TrailDecisions {
  readonly proposals: readonly TrailProposal[];
  /** Events such as `automation.approved` and `automation.undone`. */
  readonly events: readonly EventRow[];
}

export const isUndone = ({ type }: EventRow): boolean => type === 'automation.undone';
const isOfProposal = ({ entityKind }: EventRow): boolean => entityKind === 'proposal';

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
  const decided = await eventsOf(
    ctx,
    'proposal',
    proposals.map(({ id }) => id),
  );
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
  { store, scope }: Context,
  kind: 'proposal' | 'automation',
  ids: readonly string[],
): Promise<EventRow[]> {
  if (ids.length === 0) return [];
  const rows = await store.read(scope, decisionsOf, { kind, ids: JSON.stringify(ids) });
  return eventsAt(
    store,
    scope,
    rows.map(({ sequence }) => sequence),
  );
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
