// Reads the event feed: the events that webhooks carry, ascending, from any position. Events that the token
// may not read are omitted, which leaves gaps in the sequences.
import { cursorOf, type PageParameters } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { decodeCursor, encodeCursor, type CursorValue } from '../../../platform/lib/cursor.ts';
import { invalidField, notFound, ApiError } from '../../../platform/lib/errors/errors.ts';
import { limitDefault } from '../../../platform/lib/schema.ts';
import { mayReceive, mayReadEvent, scopeOfEvent } from '../../rights/rights.ts';
import { redactEvent } from '../../rights/effects.ts';
import { logCuts } from '../../../platform/store/files/installation.ts';
import { pageBytesMax } from '../../../platform/store/page.ts';
import { expandPattern, unsentType, type EventType } from '../catalogue.ts';
import { renderEvent, type EventEnvelope, type EventFacts } from '../event.ts';
import { rangeOf, type RangeQuery } from '../log/range.ts';
import {
  findEvent,
  firstSequenceSince,
  lastSequence,
  pageAfter,
  pageOfSubject,
  type LogPage,
  type LogQuery,
} from '../log/log.ts';

const batch = 200;
/** Limit of events examined per page; beyond it the page ends early and reports that more may follow. */
const examinedMax = 5_000;

/** Returns true if the scopes cover every event of a type. */
export function mayRead(scopes: ReadonlySet<string>, type: EventType): boolean {
  return scopes.has(scopeOfEvent(type));
}

/** @throws ApiError invalid_cursor, history_changed, validation_failed */
export async function listEvents(
  ctx: Context,
  query: PageParameters & FeedQuery & RangeQuery & { types?: string },
) {
  const list = feedOf(ctx);
  const wanted = query.types === undefined ? null : typesOf(query.types);
  const position = await positionOf(ctx, cursorOf(query), query.generation);
  const range = await rangeOf(ctx, query);
  const { data, pageInfo } = await pageOfLog(ctx, {
    list,
    // A cursor is a position of the log, and is valid with any range.
    from: Math.max(position, range.after),
    through: range.through,
    cursorOf: (position) => [position, ctx.generation],
    limit: query.limit ?? limitDefault,
    read: (after, query) => pageAfter(ctx.store, ctx.scope, after, query),
    matches: (event) => range.has(event) && (!wanted || wanted.has(event.type)),
  });
  return { data, pageInfo: { ...pageInfo, generation: ctx.generation } };
}

/** A part of a history: the list its cursors belong to, its start time and its filter. */
interface PartOfHistory {
  readonly name: string;
  readonly sinceMs: number;
  matches(event: EventFacts): boolean;
}

/** Returns the events of one subject, oldest first. @throws ApiError invalid_cursor */
export async function listEventsOf(
  ctx: Context,
  subjectId: string,
  query: PageParameters,
  part?: PartOfHistory,
) {
  const list = `${ctx.workspaceId} history ${part?.name ?? subjectId}`;
  const after = cursorOf(query);
  return pageOfLog(ctx, {
    list,
    from: after === undefined ? await beginOf(ctx, part) : Number(decodeCursor(ctx.sealing, list, after)[0]),
    through: Infinity,
    cursorOf: (position) => [position],
    limit: query.limit ?? limitDefault,
    read: (after, query) => pageOfSubject(ctx.store, ctx.scope, subjectId, after, query),
    matches: part?.matches ?? (() => true),
  });
}

async function beginOf({ store, scope }: Context, part: PartOfHistory | undefined): Promise<number> {
  if (!part) return 0;
  return (await firstSequenceSince(store, scope, part.sinceMs, await lastSequence(store, scope))) - 1;
}

async function pageOfLog(
  ctx: Context,
  part: {
    list: string;
    from: number;
    /** Last sequence that is read; only for a list that reads every sequence. */
    through: number;
    cursorOf(position: number): readonly CursorValue[];
    limit: number;
    /** Reads one batch after a sequence, ascending. */
    read(after: number, query: LogQuery): Promise<LogPage>;
    matches(event: EventFacts): boolean;
  },
) {
  const data: EventEnvelope[] = [];
  let position = part.from;
  let bytes = 0;
  let more = position < part.through;
  const matches = (event: EventFacts): boolean => mayReceive(ctx, event.type) && part.matches(event);
  for (
    let examined = 0;
    more && data.length < part.limit && bytes <= pageBytesMax && examined < examinedMax;
  ) {
    const page = await ctx.fairQueue.run(ctx.scope, () =>
      part.read(position, {
        limit: Math.min(batch, part.through - position),
        matches,
        eventsMax: part.limit - data.length,
        bytesMax: pageBytesMax - bytes,
      }),
    );
    const readable = page.events.filter((event) => mayReadEvent(ctx, event));
    data.push(...readable.map((event) => redactEvent(ctx, renderEvent(event))));
    position = page.through;
    bytes += page.bytes;
    examined += page.examined;
    more = page.more && position < part.through;
  }
  return {
    data,
    pageInfo: {
      hasNextPage: more,
      endCursor: position === 0 ? null : encodeCursor(ctx.sealing, part.list, part.cursorOf(position)),
    },
  };
}

export async function getEvent(ctx: Context, id: string): Promise<EventEnvelope> {
  const row = await findEvent(ctx.store, ctx.scope, id);
  if (!row || !mayReadEvent(ctx, row)) throw notFound();
  return redactEvent(ctx, renderEvent(row));
}

/** @throws ApiError validation_failed */
export function typesOf(text: string): Set<EventType> {
  const types = text.split(',').flatMap((pattern) => {
    const covered = expandPattern(pattern);
    if (covered.length === 0) throw invalidField('types', 'invalid_enum', unsentType(pattern));
    return covered;
  });
  return new Set(types);
}

/** Name of the list that feed cursors belong to. */
const feedOf = (ctx: Context): string => `${ctx.workspaceId} events`;

/** Query parameter that completes the position in `after`. */
interface FeedQuery {
  readonly generation?: string;
}

// Resolves a reader's position across log generations. A restore starts a new generation: up to its cut both
// generations are the same, and after it a sequence names another event. A position is therefore a sequence and a
// generation, and a reader whose position no longer exists gets the sequence to continue from. Spec:
// docs/spec/events.md › After a restore.

/** Position in the log as given by a reader. */
interface RequestedPosition {
  /** Null for an event that exists in no known generation. */
  readonly sequence: number | null;
  /** Log generation of the sequence; null if the reader gives none. */
  readonly generation: string | null;
}

/**
 * Returns the sequence to continue after.
 * @throws ApiError history_changed if the position is after a cut or after the end of the log
 */
async function resolvePosition(ctx: Context, { sequence, generation }: RequestedPosition): Promise<number> {
  const end = await lastSequence(ctx.store, ctx.scope);
  const isOfNow = generation === null || generation === ctx.generation;
  if (isOfNow && sequence !== null && sequence <= end) return sequence;
  const common = await commonUntil(ctx, generation, end);
  if (sequence !== null && sequence <= common) return sequence;
  throw historyChanged(ctx.generation, common);
}

/** Returns the last sequence that the reader's generation shares with the current one. */
async function commonUntil(ctx: Context, generation: string | null, end: number): Promise<number> {
  if (generation === ctx.generation) return end;
  const cuts = await logCuts(ctx.store, ctx.scope);
  const begun = cuts.find((cut) => cut.generation === generation)?.number ?? 0;
  const since = cuts.filter(({ number }) => number > begun);
  // An unknown generation that no restore has cut off shares no events with the current one.
  if (since.length === 0) return generation === null ? end : 0;
  return Math.min(end, ...since.map(({ afterSequence }) => afterSequence));
}

function historyChanged(generation: string, after: number): ApiError {
  const fix = `Discard later events, then continue with after=${after}&generation=${generation}.`;
  return new ApiError(
    'history_changed',
    `The log was restored to an earlier state, or never had this event. The log matches your copy up to sequence ${after}. ${fix}`,
    {
      details: [
        { path: 'after', issue: 'conflict', fix, value: String(after) },
        { path: 'generation', issue: 'conflict', fix, value: generation },
      ],
    },
  );
}

/**
 * Resolves a position in the log from a feed cursor, a sequence, the id of a stream frame or an event id.
 * @throws ApiError invalid_cursor, history_changed, validation_failed
 */
export async function positionOf(
  ctx: Context,
  after: string | undefined,
  generation: string | undefined,
): Promise<number> {
  if (after === undefined) return 0;
  const parsed = parsePosition(ctx, after, generation ?? null);
  if (parsed) return resolvePosition(ctx, parsed);
  const event = await findEvent(ctx.store, ctx.scope, after);
  if (event) return event.sequence;
  if ((await logCuts(ctx.store, ctx.scope)).length > 0)
    return resolvePosition(ctx, { sequence: null, generation: null });
  throw invalidField('after', 'not_found', {
    why: 'No event has this id.',
    fix: 'Use the id or sequence of an event of this workspace.',
  });
}

/** Returns null for an event id. @throws ApiError invalid_cursor */
function parsePosition(ctx: Context, after: string, generation: string | null): RequestedPosition | null {
  const [, sequence, ofFrame = null] = /^(\d{1,15})(?::([\w-]{1,64}))?$/.exec(after) ?? [];
  if (sequence !== undefined) return { sequence: Number(sequence), generation: ofFrame ?? generation };
  if (after.startsWith('evt_')) return null;
  const [position, ofCursor = null] = decodeCursor(ctx.sealing, feedOf(ctx), after);
  return { sequence: Number(position), generation: ofCursor === null ? generation : String(ofCursor) };
}
