// Routes to open and close the inbound routes of a plugin, and the endpoint that receives their requests.
import { Type } from 'typebox';
import { isoTime } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { defineRoute, type Method, type Route } from '../../../kernel/http/route.ts';
import { Closed, described, enumeration, namedSchema, nullable, time } from '../../../platform/lib/schema.ts';
import { handlerName } from './actions.ts';
import { getInstall } from '../installs/installs.ts';
import { pluginRef, steering } from '../installs/rights.ts';
import { receive, type ReceiveOptions } from './receive.ts';
import { closeRoute, openRoute, urlOf } from './openings.ts';
import { openRoutesOf, openSealed } from './rows.ts';

const url = Type.String({ description: 'URL of the route; anyone who knows it can send requests.' });
const routeFields = {
  name: handlerName,
  method: enumeration('RouteMethod', ['GET', 'POST'], 'HTTP method of the route.'),
  auth: enumeration(
    'RouteAuth',
    ['hmac', 'public'],
    'Authentication of requests: `hmac` requires a signature, `public` none.',
  ),
};
const RouteList = namedSchema(
  'PluginRouteList',
  Closed({
    data: Type.Array(
      Closed({
        ...routeFields,
        why: Type.String({
          description: 'Purpose of the route, by the author of the plugin; empty if there is none.',
        }),
        url: nullable(url),
        openedAt: nullable(described(time, 'Time at which the route was opened; null while closed.')),
      }),
      { description: 'All routes, in the order of the manifest.' },
    ),
  }),
);
const RouteOpened = namedSchema(
  'PluginRouteOpened',
  Closed({
    ...routeFields,
    url,
    secret: nullable(
      Type.String({ description: 'Signing secret for senders, shown only once; null for a public route.' }),
    ),
  }),
);

async function listRoutes(ctx: Context, ref: string) {
  const { id, manifest } = await getInstall(ctx, ref);
  const open = new Map((await openRoutesOf(ctx.store, ctx.scope, id)).map((row) => [row.name, row]));
  const data = Object.entries(manifest.routes ?? {}).map(([name, { method, auth, why }]) => {
    const row = open.get(name);
    return {
      name,
      method,
      auth,
      why: why ?? '',
      url: row ? urlOf(ctx, openSealed(ctx.sealing, ctx.workspaceId, row).token, name) : null,
      openedAt: row ? isoTime(row.opened_at) : null,
    };
  });
  return { data };
}

export function inboundRoutes(options: ReceiveOptions): Route[] {
  return [...administration, hookRoute('GET', options), hookRoute('POST', options)];
}

const params = Closed({ id: pluginRef, name: handlerName });

const administration: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/plugins/{id}/routes',
    name: 'plugins.routes',
    summary: 'List the inbound routes of a plugin',
    scope: 'plugins:write',
    also: steering,
    limit: 'read',
    params: Closed({ id: pluginRef }),
    responses: { 200: RouteList },
    read: (ctx, { params: { id } }) => listRoutes(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/plugins/{id}/routes/{name}/open',
    name: 'plugins.open-route',
    summary: 'Open an inbound route of a plugin, or rotate its secret',
    description:
      'Routes are closed until opened. Opening a signed route again keeps its URL and replaces its secret at once; opening a public route again replaces its URL.',
    scope: 'plugins:write',
    also: steering,
    limit: 'write',
    params,
    secret: true,
    responses: { 200: RouteOpened },
    write: async (ctx, { params: { id, name } }) => openRoute(ctx, await getInstall(ctx, id), name),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/plugins/{id}/routes/{name}',
    name: 'plugins.close-route',
    summary: 'Close an inbound route of a plugin',
    description: 'The route gets a new URL and a new secret when it is opened again.',
    scope: 'plugins:write',
    limit: 'write',
    params,
    responses: { 204: null },
    write: async (ctx, { params: { id, name }, ifMatch }) =>
      closeRoute(ctx, await getInstall(ctx, id), name, ifMatch),
  }),
];

function hookRoute(method: Extract<Method, 'GET' | 'POST'>, options: ReceiveOptions): Route {
  return defineRoute({
    method,
    path: '/api/v1/hooks/{token}/{name}',
    name: `hooks.${method.toLowerCase()}`,
    summary: 'Send a request to an inbound route of a plugin',
    scope: null,
    limit: 'write',
    contentType: 'text/plain',
    params: Closed({ token: Type.String({ pattern: '^[A-Za-z0-9_-]{32}$' }), name: handlerName }),
    responses: { 200: null },
    inbound: ({ params: routeParams }, rawRequest) => receive(options, routeParams, rawRequest),
  });
}
