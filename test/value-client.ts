// Wraps the in-process adapter as an HTTP client, so that tests send the same requests through both.
import type { Route } from '../core/kernel/http/route.ts';
import type { Outcome, Take, ValueCall } from '../core/kernel/http/values.ts';
import { createFindKey } from '../core/features/api-keys/token.ts';
import { createAuthentication } from '../core/features/people/authenticate.ts';
import type { Authenticate } from '../core/kernel/http/principal.ts';
import type { Client, Json, Reply, TestApp } from './app.ts';

/** Copies the body as an HTTP client would read it. */
export const asText: Take<string | null> = (body) => {
  const text = body === undefined ? null : JSON.stringify(body);
  return { taken: text, bytes: text?.length ?? 0 };
};

export function routeAt(app: TestApp, method: string, path: string): [Route, Record<string, string>] {
  // Static path segments take precedence over parameters, as in a router.
  const exact = app.app.routes.filter((route) => route.path === path);
  for (const route of [...exact, ...app.app.routes]) {
    const pattern = route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    const match = route.method === method ? new RegExp(`^${pattern}$`).exec(path) : null;
    if (match) return [route, decoded(match.groups ?? {})];
  }
  throw new Error(`No route matches ${method} ${path}.`);
}

const decoded = (params: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, text]) => [name, decodeURIComponent(text)]));

/** Authenticates API keys without recording their use. */
export function keyAuthenticateOf({ services: { store, nowMs }, committer }: TestApp): Authenticate {
  const finders = [createFindKey({ store, uses: { note: () => undefined } })];
  return createAuthentication({ committer, nowMs, finders }).authenticate;
}

/** Sends in-process requests with the key of a token, with typed values for the texts of URLs and headers. */
export function valueClientOf(app: TestApp, token: string, isCounted = false): Client {
  const authenticate = keyAuthenticateOf(app);
  const call = app.app.caller(asText);
  return async (method, path, body, headers = {}) => {
    const principal = await authenticate(token);
    if (!principal) throw new Error('The API key does not exist.');
    const url = new URL(path, app.url);
    const [route, params] = routeAt(app, method, url.pathname);
    const query = [...url.searchParams].map(([name, text]) => [name, typedOf(text)]);
    const outcome = await call(route, {
      principal,
      isCounted,
      params,
      query: Object.fromEntries(query),
      body,
      ...termsOf(headers),
    });
    return replyOf(outcome);
  };
}

function typedOf(text: string): unknown {
  if (/^(0|-?[1-9]\d{0,14})$/.test(text)) return Number(text);
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^\{.*\}$/.test(text) && JSON.stringify(parsed(text)) === text) return parsed(text);
  return text.includes(',') ? text.split(',') : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function termsOf(headers: Record<string, string>): Partial<ValueCall> {
  const version = headers['if-match'];
  const key = headers['idempotency-key'];
  return {
    mode: headers['tatami-mode'] === 'simulate' ? 'simulate' : 'commit',
    ...(version === undefined ? {} : { ifMatch: Number(version.replaceAll('"', '')) }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  };
}

function replyOf(outcome: Outcome<string | null>): Reply {
  if (outcome.error) {
    const { status, code, message, details } = outcome.error;
    const { requestId } = outcome;
    const text = JSON.stringify({ error: { code, message, details, requestId } });
    return { status, headers: new Headers(), text, json: JSON.parse(text) as Json };
  }
  const { status, body, location, isReplay } = outcome;
  const headers = new Headers({
    ...(location === undefined ? {} : { location }),
    ...(isReplay ? { 'idempotent-replayed': 'true' } : {}),
  });
  return { status, headers, text: body ?? '', json: (body === null ? null : JSON.parse(body)) as Json };
}
