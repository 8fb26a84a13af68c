// Mounts the routes on Elysia: first the routes, then other methods of known paths (405), then everything else (404). API routes have
// neither Elysia hooks nor Elysia schemas, so that every response is created in one place (response.ts).
import { Elysia } from 'elysia';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import type { CrossOrigin } from './request/cross-origin.ts';
import type { Kernel, Serve } from './kernel.ts';
import type { Requests } from './requests.ts';
import type { Method, Route, SignedRoute } from './route.ts';
import { createUnrouted } from './response/response.ts';
import type { Outcome, Take, ValueCall, ValueAdapterFactory } from './values.ts';

/** Observer of HTTP responses, by the pattern of the route. */
export interface Traffic {
  (method: string, route: string): (status: number, tookMs: number) => void;
}

export interface App {
  /** Serves a request over HTTP. */
  fetch(request: Request): Response | Promise<Response>;
  /** Returns a function for in-process calls. */
  caller<T>(take: Take<T>): Caller<T>;
  readonly routes: readonly Route[];
  /** Returns the route of that name. @throws Error if there is none */
  route(name: string): Route;
}

/** Calls a route. Never rejects. */
export interface Caller<T> {
  (route: Route, call: ValueCall): Promise<Outcome<T>>;
}

export interface RequestAdapters {
  readonly kernel: Kernel;
  readonly requests: Requests;
  readonly values: ValueAdapterFactory;
  readonly crossOrigin: CrossOrigin;
}

export function createApp(
  { kernel, requests, values, crossOrigin }: RequestAdapters,
  routes: readonly Route[],
  traffic: Traffic | null = null,
  signedRoutes: readonly SignedRoute[] = [],
): App {
  const app = new Elysia({ strictPath: true, handler: { standardHostname: false } });
  const methods = new Map<string, Map<Method, Serve>>();
  const served = new Map<Route, Serve>();
  for (const route of routes) {
    const path = routerPathOf(route.path);
    const serve = kernel.serve(route);
    const known = methods.get(path) ?? methods.set(path, new Map()).get(path)!;
    if (known.has(route.method)) throw new Error(`The route ${route.method} ${route.path} is defined twice.`);
    known.set(route.method, serve);
    served.set(route, serve);
    const take = watched(traffic, route.method, route.path, ({ request, params }: RoutedRequest) =>
      serve(requests, { request, params }),
    );
    app.route(route.method, path, take, { parse: 'none' });
  }
  for (const signed of signedRoutes) {
    const serve = kernel.serve(signed.route);
    const take = watched(traffic, 'GET', signed.path, ({ request, params }: RoutedRequest) =>
      serve(requests.signed, requests.signed.incoming(signed, request, params.token ?? '')),
    );
    const path = routerPathOf(signed.path);
    methods.set(path, new Map([['GET', serve]]));
    app.route('GET', path, take, { parse: 'none' });
  }
  for (const [path, known] of methods) {
    const refuse = otherMethod(requests, known);
    app.all(path, ({ request }) => refuse(request), { parse: 'none' });
  }
  const unrouted = createUnrouted(routes);
  const missing = watched(traffic, 'any', 'none', ({ request }: RoutedRequest) =>
    requests.refuseUnrouted(request, unrouted),
  );
  app.all('/*', missing, { parse: 'none' });
  if (!methods.has('/')) app.all('/', missing, { parse: 'none' });
  const byName = new Map(routes.map((route) => [route.name, route]));
  return {
    fetch: (request) => crossOrigin(request, app.fetch),
    caller(take) {
      const adapter = values(take);
      return (route, call) => {
        const serve = served.get(route);
        if (!serve) throw new Error(`The route ${route.name} is not mounted.`);
        return serve(adapter, call);
      };
    },
    routes,
    route(name) {
      const match = byName.get(name);
      if (!match) throw new Error(`There is no route ${name}.`);
      return match;
    },
  };
}

const routerPathOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

interface RoutedRequest {
  readonly request: Request;
  readonly params: Record<string, string>;
}

/** Reports the responses of `serve` to the observer, if there is one. */
function watched(
  traffic: Traffic | null,
  method: string,
  route: string,
  serve: (taken: RoutedRequest) => Promise<Response>,
): (taken: RoutedRequest) => Promise<Response> {
  const answered = traffic?.(method, route);
  if (!answered) return serve;
  // Elysia inspects the parameters of this function to determine what to prepare for it.
  return async ({ request, params }) => {
    const startedMs = performance.now();
    const response = await serve({ request, params });
    answered(response.status, performance.now() - startedMs);
    return response;
  };
}

/** Answers the methods of a path that no route has: OPTIONS with the list of methods, others with 405. */
function otherMethod(
  requests: Requests,
  known: ReadonlyMap<Method, Serve>,
): (request: Request) => Promise<Response> {
  const allow = [...known.keys(), ...(known.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  const error = (): ApiError =>
    new ApiError('method_not_allowed', `Use one of ${allow} for this path.`, { headers: { allow } });
  return async (request) => {
    const refusal = await requests.refuseUnrouted(request, error);
    if (request.method !== 'OPTIONS' || refusal.status !== 405) return refusal;
    const headers = new Headers(refusal.headers);
    headers.delete('content-type');
    return new Response(null, { status: 204, headers });
  };
}
