import { webhook } from '../endpoints/contract.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Closed, idOf, pageOf, pageQuery } from '../../../platform/lib/schema.ts';
import {
  cancelReplay,
  createReplay,
  getReplay,
  listReplays,
  ReplayCreate,
  ReplayResponse,
} from './operations.ts';

const ofEndpoint = Closed({ id: idOf(webhook.id) });
const ofReplay = Closed({ id: idOf(idPrefixes.replay) });

export function replayRoutes(queue: WorkQueue): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/webhooks/{id}/replays',
      name: 'webhooks.replays',
      summary: 'List the replays to an endpoint, newest first',
      scope: 'webhooks:read',
      limit: 'read',
      params: ofEndpoint,
      query: Closed(pageQuery),
      responses: { 200: pageOf(ReplayResponse) },
      errors: ['invalid_cursor'],
      read: (ctx, { params, query }) => listReplays(ctx, params.id, query),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/webhooks/{id}/replays',
      name: 'webhooks.replay',
      summary: 'Replay past events of a range to an endpoint',
      description:
        "Creates a new, newly signed delivery for each event that matches the current subscription, including events from before the endpoint was created. Also needs the read scopes of the endpoint's events. The replay runs in the background; get it to see its progress.",
      scope: 'webhooks:write',
      limit: 'write',
      params: ofEndpoint,
      body: ReplayCreate,
      example: { since: '2026-11-20T12:00:00Z', only: 'undelivered' },
      responses: { 202: ReplayResponse },
      errors: ['conflict'],
      write: (ctx, { params, body }) => createReplay(ctx, params.id, body, queue),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/replays/{id}',
      name: 'replays.get',
      summary: 'Get a replay and its progress',
      scope: 'webhooks:read',
      limit: 'read',
      params: ofReplay,
      responses: { 200: ReplayResponse },
      read: (ctx, { params }) => getReplay(ctx, params.id),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/replays/{id}/cancel',
      name: 'replays.cancel',
      summary: 'Cancel a replay; deliveries already created continue',
      scope: 'webhooks:write',
      limit: 'write',
      params: ofReplay,
      responses: { 200: ReplayResponse },
      errors: ['conflict'],
      write: (ctx, { params }) => cancelReplay(ctx, params.id, queue),
    }),
  ];
}
