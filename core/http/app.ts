// Mounts the routes on Elysia. The list reads as a table of contents: routes, other methods of known paths (405), all else
// (404). No hooks and no Elysia schemas stand on API routes, so that each answer is made in one place (response.ts).
import { Elysia } from 'elysia';
import { ApiError } from '../lib/errors.ts';
import type { CrossOrigin } from './cross-origin.ts';
import type { Kernel, Serve } from './kernel.ts';
import type { Requests } from './requests.ts';
import type { Method, Route } from './route.ts';
import { createUnrouted } from './unrouted.ts';
import type { Outcome, Take, ValueCall, Values } from './values.ts';

/** Is told how each request over HTTP was answered, by the pattern of its route. */
export interface Traffic {
  (method: string, route: string): (status: number, tookMs: number) => void;
}

export interface App {
  /** The entrance for HTTP. */
  fetch(request: Request): Response | Promise<Response>;
  /** The entrance for callers inside the process. */
  caller<T>(take: Take<T>): Caller<T>;
  readonly routes: readonly Route[];
  /** By name. @throws Error for a name that no route has */
  route(name: string): Route;
}

/** Calls one of the routes. Never rejects. */
export interface Caller<T> {
  (route: Route, call: ValueCall): Promise<Outcome<T>>;
}

/** The kernel with its two entrances, and what lies around the one for HTTP. */
export interface Entrances {
  readonly kernel: Kernel;
  readonly requests: Requests;
  readonly values: Values;
  readonly crossOrigin: CrossOrigin;
}

export function createApp(
  { kernel, requests, values, crossOrigin }: Entrances,
  routes: readonly Route[],
  traffic: Traffic | null = null,
): App {
  const app = new Elysia({ strictPath: true, handler: { standardHostname: false } });
  const methods = new Map<string, Map<Method, Serve>>();
  const served = new Map<Route, Serve>();
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const serve = kernel.serve(route);
    const known = methods.get(path) ?? methods.set(path, new Map()).get(path)!;
    if (known.has(route.method)) throw new Error(`Two routes are ${route.method} ${route.path}.`);
    known.set(route.method, serve);
    served.set(route, serve);
    const take = watched(traffic, route.method, route.path, ({ request, params }: Taken) =>
      serve(requests, { request, params }),
    );
    app.route(route.method, path, take, { parse: 'none' });
  }
  for (const [path, known] of methods) {
    const get = known.get('GET');
    const allow = [...known.keys(), ...(get ? ['HEAD'] : []), 'OPTIONS'].join(', ');
    const otherMethod = async (request: Request): Promise<Response> => {
      const refusal = await requests.refuseUnrouted(
        request,
        () => new ApiError('method_not_allowed', `Use one of ${allow} here.`, { headers: { allow } }),
      );
      if (request.method !== 'OPTIONS' || refusal.status !== 405) return refusal;
      const headers = new Headers(refusal.headers);
      headers.delete('content-type');
      return new Response(null, { status: 204, headers });
    };
    app.all(path, ({ request }) => otherMethod(request), { parse: 'none' });
  }
  const unrouted = createUnrouted(routes);
  const missing = watched(traffic, 'any', 'none', ({ request }: Taken) =>
    requests.refuseUnrouted(request, unrouted),
  );
  app.all('/*', missing, { parse: 'none' });
  if (!methods.has('/')) app.all('/', missing, { parse: 'none' });
  const byName = new Map(routes.map((route) => [route.name, route]));
  return {
    fetch: (request) => crossOrigin(request, app.fetch),
    caller(take) {
      const entrance = values(take);
      return (route, call) => {
        const serve = served.get(route);
        if (!serve) throw new Error(`${route.name} is none of the routes.`);
        return serve(entrance, call);
      };
    },
    routes,
    route(name) {
      const found = byName.get(name);
      if (!found) throw new Error(`There is no route ${name}.`);
      return found;
    },
  };
}

interface Taken {
  readonly request: Request;
  readonly params: Record<string, string>;
}

/** Where nobody watches, as it is. */
function watched(
  traffic: Traffic | null,
  method: string,
  route: string,
  serve: (taken: Taken) => Promise<Response>,
): (taken: Taken) => Promise<Response> {
  const answered = traffic?.(method, route);
  if (!answered) return serve;
  // The router reads from the parameters of this function what it has to get ready.
  return async ({ request, params }) => {
    const startedMs = performance.now();
    const response = await serve({ request, params });
    answered(response.status, performance.now() - startedMs);
    return response;
  };
}
