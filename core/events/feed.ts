// The feed: the same events as webhooks carry, ascending, from any point on. What the token may not read is left out, so
// sequences then have gaps for that reader.
import { cursorOf, type PageParameters } from '../changes/list.ts';
import type { Context } from '../context.ts';
import { decodeCursor, encodeCursor } from '../lib/cursor.ts';
import { invalidField, notFound } from '../lib/errors.ts';
import { limitDefault } from '../lib/schema.ts';
import { mayHear, mayReadEvent, scopeOfEvent } from '../rights/rights.ts';
import { pageBytesMax } from '../store/page.ts';
import { expandPattern, type EventType } from './catalogue.ts';
import { renderEvent, type EventEnvelope } from './event.ts';
import { findEvent, pageAfter, pageOfSubject, type EventFacts, type LogPage, type LogQuery } from './log.ts';

const batch = 200;
/** Events looked at for one page; past it the page ends early and says that more may follow. */
const examinedMax = 5_000;

/** Whether it may read every event of a type. */
export function mayRead(scopes: ReadonlySet<string>, type: EventType): boolean {
  return scopes.has(scopeOfEvent(type));
}

/** @throws ApiError invalid_cursor, validation_failed */
export async function listEvents(ctx: Context, query: PageParameters & { types?: string }) {
  const list = feedOf(ctx);
  const wanted = query.types === undefined ? null : typesOf(query.types);
  return pageOfLog(ctx, {
    list,
    from: await placeOf(ctx, cursorOf(query)),
    limit: query.limit ?? limitDefault,
    read: (after, query) => pageAfter(ctx.store, ctx.scope, after, query),
    wants: (type) => !wanted || wanted.has(type),
  });
}

/** The history of a subject: its part of the log, oldest first. @throws ApiError invalid_cursor */
export async function listEventsOf(ctx: Context, subjectId: string, query: PageParameters) {
  const list = `${ctx.workspaceId} history ${subjectId}`;
  const after = cursorOf(query);
  return pageOfLog(ctx, {
    list,
    from: after === undefined ? 0 : Number(decodeCursor(ctx.sealing, list, after)[0]),
    limit: query.limit ?? limitDefault,
    read: (after, query) => pageOfSubject(ctx.store, ctx.scope, subjectId, after, query),
    wants: () => true,
  });
}

async function pageOfLog(
  ctx: Context,
  part: {
    list: string;
    from: number;
    limit: number;
    /** A batch after a sequence, ascending. */
    read(after: number, query: LogQuery): Promise<LogPage>;
    wants(type: EventType): boolean;
  },
) {
  const data: EventEnvelope[] = [];
  let position = part.from;
  let bytes = 0;
  let more = true;
  const wants = ({ type }: EventFacts): boolean => mayHear(ctx, type) && part.wants(type);
  for (
    let examined = 0;
    more && data.length < part.limit && bytes <= pageBytesMax && examined < examinedMax;
  ) {
    const page = await ctx.turns.run(ctx.scope, () =>
      part.read(position, {
        limit: batch,
        wants,
        eventsMax: part.limit - data.length,
        bytesMax: pageBytesMax - bytes,
      }),
    );
    data.push(...page.events.filter((event) => mayReadEvent(ctx, event)).map(renderEvent));
    position = page.through;
    bytes += page.bytes;
    examined += page.examined;
    more = page.more;
  }
  return {
    data,
    pageInfo: {
      hasNextPage: more,
      endCursor: position === 0 ? null : encodeCursor(ctx.sealing, part.list, [position]),
    },
  };
}

export async function getEvent(ctx: Context, id: string): Promise<EventEnvelope> {
  const row = await findEvent(ctx.store, ctx.scope, id);
  if (!row || !mayReadEvent(ctx, row)) throw notFound();
  return renderEvent(row);
}

/** @throws ApiError validation_failed */
export function typesOf(text: string): Set<EventType> {
  const types = text.split(',').flatMap((pattern) => {
    const covered = expandPattern(pattern);
    if (covered.length === 0)
      throw invalidField(
        'types',
        'invalid_enum',
        `${pattern} is no event type; use one such as issue.created, or issue.*.`,
      );
    return covered;
  });
  return new Set(types);
}

/** The list that the feed's cursors belong to. */
const feedOf = (ctx: Context): string => `${ctx.workspaceId} events`;

/** A place in the log by a cursor of the feed, a sequence or an event id. @throws ApiError invalid_cursor, validation_failed */
export async function placeOf(ctx: Context, after: string | undefined): Promise<number> {
  const list = feedOf(ctx);
  if (after === undefined) return 0;
  if (/^\d{1,15}$/.test(after)) return Number(after);
  if (!after.startsWith('evt_')) return Number(decodeCursor(ctx.sealing, list, after)[0]);
  const event = await findEvent(ctx.store, ctx.scope, after);
  if (!event) throw invalidField('after', 'not_found', 'There is no such event.');
  return event.sequence;
}
