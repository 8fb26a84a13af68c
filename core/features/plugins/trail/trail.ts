// Reads the trail of an issue: its events grouped by root cause, newest first. A page reads the log once, and the runs and deliveries
// of all its roots in one statement each.
import { type PageParameters, cursorOf } from '../../../kernel/changes/list.ts';
import type { Context } from '../../../kernel/context.ts';
import { isoTime } from '../../../kernel/changes/operations.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { decodeCursor, encodeCursor } from '../../../platform/lib/cursor.ts';
import { invalidField, notFound } from '../../../platform/lib/errors/errors.ts';
import { effectTable } from '../../../kernel/rights/effects.ts';
import { mayReadEvent } from '../../../kernel/rights/rights.ts';
import type { UndoModel } from '../undo/models.ts';
import {
  deliveriesOfEvents,
  newestOfIssue,
  runsByIds,
  runsOfRoots,
  sequencesOfEvents,
  type TrailDelivery,
  type TrailRun,
  decisionsIn,
  decisionsOfTree,
  eventsOfRows,
} from './rows.ts';
import { isSameChange, treeOf, type TrailNode } from './tree.ts';

/** Limit of events of the issue that one page reads. */
const eventsMax = 500;
/** Limit of events searched for the last change of a field. */
const fieldEventsMax = 5_000;
/** Limit of events made by the runs of a page, on this issue or others. */
const emittedMax = 1_000;
const rootsDefault = 20;

export type TrailQuery = PageParameters & { readonly field?: string };

/** @throws ApiError not_found, invalid_cursor, validation_failed */
export async function readTrail(ctx: Context, issues: UndoModel, id: string, query: TrailQuery) {
  const issue = await issues.find(ctx, id);
  if (!issue) throw notFound();
  const { field } = query;
  if (field !== undefined && !Object.hasOwn(issues.toResponse(issue, ctx) as object, field))
    throw invalidField('field', 'not_found', {
      why: `An issue has no field ${field}.`,
      fix: 'Use a name such as `priority`.',
    });
  const list = `${ctx.workspaceId} trail ${issue.id} ${field ?? ''}`;
  const cursor = cursorOf(query);
  const before = cursor === undefined ? Infinity : Number(decodeCursor(ctx.sealing, list, cursor)[0]);
  const { events, end } =
    field === undefined
      ? await newestEvents(ctx, issue.id, before, query.limit ?? rootsDefault)
      : await settingOf(ctx, issue.id, field);
  const roots = await rootsOf(ctx, issue.id, events);
  return {
    data: roots,
    pageInfo: {
      hasNextPage: end.isMore,
      endCursor: end.sequence === undefined ? null : encodeCursor(ctx.sealing, list, [end.sequence]),
      leftOut: ['plugins:read', 'proposals:read', 'webhooks:read'].filter((scope) => !ctx.scopes.has(scope)),
      setBy: field === undefined ? null : setBy(field, roots, events[0]?.id ?? null),
    },
  };
}

function setBy(
  field: string,
  roots: readonly { readonly nodes: readonly TrailNode[] }[],
  eventId: string | null,
) {
  return {
    field,
    eventId,
    chain: chainOf(
      roots.flatMap(({ nodes }) => nodes),
      eventId,
    ),
  };
}

/** Visible events, and the position after the events that were read. */
interface Read {
  readonly events: readonly EventRow[];
  readonly end: { readonly sequence: number | undefined; readonly isMore: boolean };
}

/** Returns whole roots, newest first: up to `limit`, or as many as one page of events contains. */
async function newestEvents(ctx: Context, issueId: string, before: number, limit: number): Promise<Read> {
  const read = await eventsBefore(ctx, issueId, before, eventsMax);
  const seen = seenOf(ctx, read);
  const rootOf = rootsIn(seen);
  const roots = new Set<string>();
  const events: EventRow[] = [];
  for (const event of seen) {
    roots.add(rootOf(event));
    if (roots.size > limit) break;
    events.push(event);
  }
  const isCut = events.length < seen.length;
  const sequence = (isCut ? events : read).at(-1)?.sequence;
  return { events, end: { sequence, isMore: isCut || read.length === eventsMax } };
}

/** Excludes events of times at which the issue was in a team that the caller cannot access. */
function seenOf(ctx: Context, events: readonly EventRow[]): readonly EventRow[] {
  return ctx.visibleTeams === null ? events : events.filter((event) => mayReadEvent(ctx, event));
}

async function eventsBefore(
  ctx: Context,
  issueId: string,
  before: number,
  limit: number,
): Promise<EventRow[]> {
  const at = Number.isFinite(before) ? before : Number.MAX_SAFE_INTEGER;
  const rows = await ctx.store.read(ctx.scope, newestOfIssue, { issueId, before: at, limit });
  const events = await eventsOfRows(ctx, rows);
  return events.sort((a, b) => b.sequence - a.sequence);
}

/** Returns the event that set the present value of a field: its last change, or the creation. */
async function settingOf(ctx: Context, issueId: string, field: string): Promise<Read> {
  const read = (events: readonly EventRow[]): Read => ({
    events: seenOf(ctx, events),
    end: { sequence: events.at(-1)?.sequence, isMore: false },
  });
  let before = Infinity;
  for (let looked = 0; looked < fieldEventsMax; looked += eventsMax) {
    const events = await eventsBefore(ctx, issueId, before, eventsMax);
    const match = events.find(
      ({ type, entityId, data }) =>
        entityId === issueId &&
        (type === 'issue.created' || field in ((data as { previous?: object }).previous ?? {})),
    );
    if (match) return read([events.findLast((one) => isSameChange(one, match))!]);
    if (events.length < eventsMax) return read([]);
    before = events.at(-1)!.sequence;
  }
  return read([]);
}

/** Returns the root of an event. A scheduled run has no event before it, so the run itself is the root. */
const ownRootOf = ({ cause, id }: EventRow): string =>
  cause.depth > 0 && cause.rootEventId === id && cause.parentRunId !== null
    ? cause.parentRunId
    : (cause.rootEventId ?? id);

/** All events of a request have the same root: the first event. @param events newest first */
function rootsIn(events: readonly EventRow[]): (event: EventRow) => string {
  const first = new Map<string, string>();
  const requested = events.filter((event) => event.requestId !== null && ownRootOf(event) === event.id);
  for (const { requestId, id } of requested) first.set(requestId!, id);
  const rootOf = new Map(requested.map(({ requestId, id }) => [id, first.get(requestId!)!]));
  return (event) => rootOf.get(ownRootOf(event)) ?? ownRootOf(event);
}

async function rootsOf(ctx: Context, issueId: string, events: readonly EventRow[]) {
  const rootOf = rootsIn(events);
  const byRoot = Map.groupBy(events, rootOf);
  const roots = [...new Set(events.map(ownRootOf))];
  const runs = await runsOf(ctx, roots, events);
  const all = seenOf(ctx, await withEmitted(ctx, roots, runs, events));
  const decisions = await decisionsIn(ctx, issueId, runs, all);
  const deliveries = await deliveriesOf(ctx, all);
  const visibility = {
    runs: ctx.scopes.has('plugins:read'),
    proposals: ctx.scopes.has('proposals:read'),
    text: ctx.scopes.has(effectTable.logs.scope),
  };
  return [...byRoot].map(([rootId, [newest]]) => {
    const own = all.filter((event) => rootOf(event) === rootId || event.id === rootId);
    const ids = new Set(own.map(({ id }) => id));
    const parents = new Set(own.flatMap(({ cause }) => cause.parentRunId ?? []));
    const ownRuns = runs.filter(
      (run) => parents.has(run.id) || (run.event_id !== null && ids.has(run.event_id)),
    );
    const decided = decisionsOfTree(decisions, new Set(ownRuns.map(({ id }) => id)), own);
    const nodes = treeOf(ctx, visibility, {
      events: [...own, ...decided.events.filter(({ id }) => !ids.has(id))],
      runs: ownRuns,
      proposals: decided.proposals,
      deliveries: deliveries.filter(({ event_id }) => ids.has(event_id)),
    });
    return { rootId, at: isoTime(newest!.createdAt), nodes };
  });
}

async function runsOf(
  { store, scope }: Context,
  roots: readonly string[],
  events: readonly EventRow[],
): Promise<TrailRun[]> {
  const caused = await store.read(scope, runsOfRoots, { roots: JSON.stringify(roots) });
  const known = new Set(caused.map(({ id }) => id));
  const others = new Set(
    events.flatMap(({ cause }) => cause.parentRunId ?? []).filter((id) => !known.has(id)),
  );
  if (others.size === 0) return caused;
  return [...caused, ...(await store.read(scope, runsByIds, { ids: JSON.stringify([...others]) }))];
}

/** Adds the root events and the events that the runs made on other objects. */
async function withEmitted(
  ctx: Context,
  roots: readonly string[],
  runs: readonly TrailRun[],
  events: readonly EventRow[],
): Promise<EventRow[]> {
  const known = new Set(events.map(({ id }) => id));
  const emittedIds = runs.flatMap(({ events_json }) =>
    (JSON.parse(events_json) as { id: string }[]).map(({ id }) => id),
  );
  const missing = [...new Set([...roots, ...emittedIds])]
    .filter((id) => id.startsWith('evt_') && !known.has(id))
    .slice(0, emittedMax);
  const rows = await ctx.store.read(ctx.scope, sequencesOfEvents, { ids: JSON.stringify(missing) });
  return [...events, ...(await eventsOfRows(ctx, rows))];
}

function deliveriesOf(ctx: Context, events: readonly EventRow[]): Promise<TrailDelivery[]> {
  if (!ctx.scopes.has('webhooks:read')) return Promise.resolve([]);
  const ids = events.filter((event) => mayReadEvent(ctx, event)).map(({ id }) => id);
  return ctx.store.read(ctx.scope, deliveriesOfEvents, { ids: JSON.stringify(ids) });
}

/** Returns the ids from a node back to its root. */
function chainOf(nodes: readonly TrailNode[], from: string | null): string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const chain: string[] = [];
  for (let id = from; id !== null && byId.has(id) && !chain.includes(id); id = byId.get(id)!.parentId)
    chain.push(id);
  return chain;
}
