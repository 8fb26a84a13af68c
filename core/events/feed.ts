// The feed: the same events as webhooks carry, ascending, from any point on. What the token may not read is left out, so
// sequences then have gaps for that reader.
import { cursorOf, type PageParameters } from '../changes/list.ts';
import type { Context } from '../context.ts';
import { decodeCursor, encodeCursor } from '../lib/cursor.ts';
import { invalidField, notFound } from '../lib/errors.ts';
import { limitDefault } from '../lib/schema.ts';
import { expandPattern, namespaceOf, namespaceScopes, type EventType } from './catalogue.ts';
import { renderEvent, type EventEnvelope } from './event.ts';
import { eventsAfter, findEvent } from './log.ts';

const batch = 200;
/** Events looked at for one page; past it the page ends early and says that more may follow. */
const examinedMax = 5_000;

export function mayRead(scopes: ReadonlySet<string>, type: EventType): boolean {
  return scopes.has(namespaceScopes[namespaceOf(type)]);
}

/** @throws ApiError invalid_cursor, validation_failed */
export async function listEvents(ctx: Context, query: PageParameters & { types?: string }) {
  const list = `${ctx.workspaceId} events`;
  const wanted = query.types === undefined ? null : typesOf(query.types);
  const limit = query.limit ?? limitDefault;
  const data: EventEnvelope[] = [];
  let position = await startOf(ctx, list, cursorOf(query));
  let more = true;
  for (let examined = 0; data.length < limit && more && examined < examinedMax;) {
    const rows = await eventsAfter(ctx.store, ctx.scope, position, batch);
    more = rows.length === batch;
    for (const row of rows) {
      if (data.length === limit) {
        more = true;
        break;
      }
      position = row.sequence;
      examined++;
      if (mayRead(ctx.scopes, row.type) && (!wanted || wanted.has(row.type))) data.push(renderEvent(row));
    }
  }
  return {
    data,
    pageInfo: {
      hasNextPage: more,
      endCursor: position === 0 ? null : encodeCursor(ctx.sealing, list, [position]),
    },
  };
}

export async function getEvent(ctx: Context, id: string): Promise<EventEnvelope> {
  const row = await findEvent(ctx.store, ctx.scope, id);
  if (!row || !mayRead(ctx.scopes, row.type)) throw notFound();
  return renderEvent(row);
}

function typesOf(text: string): Set<EventType> {
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

/** `after` is a cursor, a sequence or an event id. */
async function startOf(ctx: Context, list: string, after: string | undefined): Promise<number> {
  if (after === undefined) return 0;
  if (/^\d{1,15}$/.test(after)) return Number(after);
  if (!after.startsWith('evt_')) return Number(decodeCursor(ctx.sealing, list, after)[0]);
  const event = await findEvent(ctx.store, ctx.scope, after);
  if (!event) throw invalidField('after', 'not_found', 'There is no such event.');
  return event.sequence;
}
