import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { defineRoute, type HttpConnection, type Route } from '../../http/route.ts';
import { Closed } from '../../../platform/lib/schema.ts';
import { ownEventsMember, mayReadEvent, scopeOfEvent } from '../../rights/rights.ts';
import { redactEvent } from '../../rights/effects.ts';
import { mayRead, positionOf, typesOf } from '../feed/feed.ts';
import { generation } from '../feed/schema.ts';
import type { Streams } from './streams.ts';

const query = Closed({
  after: Type.Optional(
    Type.String({
      maxLength: 2000,
      description:
        'Start after this event: an event id, a sequence or a cursor of the feed. By default the stream starts with new events.',
    }),
  ),
  generation: Type.Optional(generation),
  types: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: 'Event types or patterns such as `issue.*`, comma-separated.',
    }),
  ),
  samples: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'True to include sample events, which have no frame id and are not in the log; default false.',
    }),
  ),
});

const frames = Type.String({
  description: 'Server-sent event frames, WHATWG HTML § 9.2.',
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
      summary: 'Stream new events as server-sent events',
      description:
        'Each frame has the sequence and log generation as `id` (`17:9f3c…`) and the event, as in the feed, as `data`. To resume without missing events, reconnect with `Last-Event-ID`, which overrides `after`. A reader that accepts no data for 30 seconds is disconnected. At most 20 streams per token and 100 per workspace are open at a time.',
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
  connection: HttpConnection,
  streams: Streams,
): Promise<ReadableStream<Uint8Array>> {
  const { after, types, samples = false } = query;
  const wanted = types === undefined ? null : typesOf(types);
  const from = connection.lastEventId ?? after;
  const position = from === undefined ? null : await positionOf(ctx, from, query.generation);
  return streams.open(ctx.scope, position, {
    ...connection,
    samples,
    ...(ctx.narrowed && {
      shows: (event) => (mayReadEvent(ctx, event) ? redactEvent(ctx, event) : null),
    }),
    matches(type, memberId) {
      if (wanted !== null && !wanted.has(type)) return false;
      // For a narrowed scope, `shows` omits the events outside of it.
      if (mayRead(ctx.scopes, type) || ctx.narrowed?.has(scopeOfEvent(type))) return true;
      const own = ownEventsMember(ctx, type);
      return own !== null && (memberId === undefined || memberId === own);
    },
  });
}
