// Creates the 404 error for a path without a route. The message says that the route is missing, to
// distinguish it from a missing object, and suggests the most similar route.
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { nearest } from '../../../platform/lib/text/nearest.ts';
import { pathOf } from '../request/request-url.ts';
import type { Route } from '../route.ts';

/** Longer paths are cut and longer segments replaced, so that a key sent in a path by mistake is not repeated. */
const pathCharsMax = 200;
const partCharsMax = 36;

export type Unrouted = (request: Request) => ApiError;

interface KnownRoute {
  readonly path: string;
  readonly methods: readonly string[];
  readonly segments: readonly string[];
}

export function createUnrouted(routes: readonly Route[]): Unrouted {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  const known = [...byPath].map(([path, of]): KnownRoute => ({
    path,
    methods: of.map(({ method }) => method),
    segments: segmentsOf(path),
  }));
  return ({ method, url }) => {
    const path = pathOf(url);
    const meant = meantBy(segmentsOf(path), known);
    return new ApiError(
      'not_found',
      `There is no route ${method} ${displayPath(path)}.${meant ? ` Did you mean ${wordsOf(meant, method)}?` : ' See /docs for all routes.'}`,
    );
  };
}

/** Returns the path without segments that may be secrets, cut to a readable length. */
export function displayPath(path: string): string {
  const parts = path.split('/').map((part) => (part.length > partCharsMax ? '…' : part));
  const displayed = parts.join('/');
  return displayed.length > pathCharsMax ? `${displayed.slice(0, pathCharsMax)}…` : displayed;
}

/** Omits the trailing slash and the prefix that all operations share, which callers often leave out or mistype. */
function segmentsOf(path: string): string[] {
  return path
    .replace(/^\/(api(\/v\d+)?|v\d+)(?=\/|$)/i, '')
    .split('/')
    .filter((segment) => segment !== '');
}

/** Finds the most similar route with the same number of segments; parameters match any segment. */
function meantBy(requestedSegments: readonly string[], known: readonly KnownRoute[]): KnownRoute | undefined {
  if (requestedSegments.length === 0) return undefined;
  const alike = known.filter(({ segments }) => segments.length === requestedSegments.length);
  const byShape = Map.groupBy(alike, ({ segments }) => segments.map(isParameter).join());
  const candidates = [...byShape.values()].flatMap((group) => {
    const [{ segments: shape }] = group as [KnownRoute];
    const requested = requestedSegments.filter((_, index) => !isParameter(shape[index]!)).join('/');
    const match = nearest(
      requested,
      group.map(({ segments }) => fixedOf(segments)),
    );
    return group.filter(({ segments }) => match !== undefined && fixedOf(segments) === match).slice(0, 1);
  });
  // A route that matches more of the path literally precedes one that matches part of it by a parameter.
  return candidates.sort((a, b) => fixedOf(b.segments).length - fixedOf(a.segments).length)[0];
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function fixedOf(segments: readonly string[]): string {
  return segments.filter((segment) => !isParameter(segment)).join('/');
}

function wordsOf({ path, methods }: KnownRoute, method: string): string {
  const requested = method === 'HEAD' ? 'GET' : method;
  return methods.includes(requested) ? `${requested} ${path}` : `${path} (${methods.join(', ')})`;
}
