import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { defineRoute, type Connection, type Route } from '../../http/route.ts';
import { Closed } from '../../lib/schema.ts';
import { hearsOwn, mayReadEvent, scopeOfEvent } from '../../rights/rights.ts';
import { veiledEvent } from '../../rights/veil.ts';
import { mayRead, placeOf, typesOf } from '../feed.ts';
import { generation } from '../schema.ts';
import type { Streams } from './streams.ts';

const query = Closed({
  after: Type.Optional(
    Type.String({
      maxLength: 2000,
      description:
        'Begin after this event: its id, its sequence or a cursor of the feed. By default with what happens from now on.',
    }),
  ),
  generation: Type.Optional(generation),
  types: Type.Optional(
    Type.String({ maxLength: 2000, description: 'Event types or `issue.*`, comma-separated.' }),
  ),
  samples: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Also samples, which come without an id and are in no log.',
    }),
  ),
});

const frames = Type.String({
  description: 'Frames as in WHATWG HTML § 9.2.',
  examples: [
    'retry: 2000\n: events follow\nid: 17:9f3c1a7be2d84c06\n\nid: 18:9f3c1a7be2d84c06\nevent: issue.created\ndata: {"id":"evt_01m7x7qf6c000dv06y916acqbt","type":"issue.created"}\n\n',
  ],
});

export function streamRoutes(streams: Streams): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/events/stream',
      name: 'events.stream',
      summary: 'Follow the events as they happen, as server-sent events',
      description:
        'Each event has its sequence and the generation as `id` (`17:9f3c…`) and the entry of the feed as `data`. Who was cut off sends `Last-Event-ID`, which wins over `after`, and misses nothing. A reader that takes nothing for 30 seconds is cut off; 20 streams of one token and 100 of one workspace are open at most.',
      scope: 'events:read',
      limit: 'read',
      query,
      responses: { 200: frames },
      errors: ['invalid_cursor', 'history_changed'],
      contentType: 'text/event-stream',
      stream: (ctx, { query }, connection) => openStream(ctx, query, connection, streams),
    }),
  ];
}

async function openStream(
  ctx: Context,
  query: { after?: string; generation?: string; types?: string; samples?: boolean },
  connection: Connection,
  streams: Streams,
): Promise<ReadableStream<Uint8Array>> {
  const { after, types, samples = false } = query;
  const wanted = types === undefined ? null : typesOf(types);
  const from = connection.lastEventId ?? after;
  const place = from === undefined ? null : await placeOf(ctx, from, query.generation);
  return streams.open(ctx.scope, place, {
    ...connection,
    samples,
    ...(ctx.narrowed && {
      shows: (event) => (mayReadEvent(ctx, event) ? veiledEvent(ctx, event) : null),
    }),
    wants(type, memberId) {
      if (wanted !== null && !wanted.has(type)) return false;
      // Of what it holds in part, it is shown what is in that part.
      if (mayRead(ctx.scopes, type) || ctx.narrowed?.has(scopeOfEvent(type))) return true;
      const own = hearsOwn(ctx, type);
      return own !== null && (memberId === undefined || memberId === own);
    },
  });
}
