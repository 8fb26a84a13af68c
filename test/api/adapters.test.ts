// The HTTP adapter and the in-process adapter (docs/decisions/0019) give equal responses with equal effects. Generated
// from the routes.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import type { Route } from '../../core/kernel/http/route.ts';
import { allScopes, expandScopes } from '../../core/kernel/rights/table.ts';
import { startApp, type Client, type Json, type Reply, type TestApp } from '../app.ts';
import { valueClientOf } from '../value-client.ts';
import { arbitraryOf, hostileValues, shared, sometimesBroken } from './arbitrary.ts';
import { everyOperation } from './every-operation.ts';
import { exampleOf, fillPath, nowhere, requiredQueryOf, seed, type Seeds } from './seeds.ts';

const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) => new Response(null, { status: url.endsWith('/gone') ? 410 : 200 }),
});
const hookUrl = `http://127.0.0.1:${receiver.port}/`;
const flags = { egressAllow: '127.0.0.0/8' };
afterAll(() => receiver.stop(true));

/** Clients of both adapters with the same key. */
interface Pair {
  readonly http: Client;
  readonly values: Client;
}

/** True if both adapters serve the route: pages and streams exist over HTTP only. */
const hasValue = ({ kind }: Route): boolean => kind === 'read' || kind === 'write';

/**
 * Replaces everything that differs between any two runs: generated ids and secrets, by order of appearance, and
 * measurements.
 */
function comparable(): (text: string) => Json {
  const seen = new Map<string, string>();
  const placeholderOf = (id: string): string => seen.get(id) ?? seen.set(id, `<${seen.size}>`).get(id)!;
  return (text) => {
    const same = text
      .replaceAll(/http:\/\/(127\.0\.0\.1|localhost):\d+/g, 'http://here')
      .replaceAll(/(ttms?|whsec)_[\w+/=-]+|tatami-secret-ACME_KEY-[\w-]{22}/g, 'secret')
      .replaceAll(/(\/hooks\/)[\w-]{32}\//g, '$1token/')
      .replaceAll(/(\/join\/)[\w-]{43}/g, '$1token')
      .replaceAll(/\b[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}\b/g, placeholderOf)
      .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, placeholderOf)
      .replaceAll(
        /"((?:start|end)Cursor|cursor|generation|prefix|date|(?:X-W|w)ebhook-[Ss]ignature)":"[^"]*"/g,
        '"$1":"made"',
      )
      // Markers are signed with a key of the installation.
      .replaceAll(/"asOf":"[\w-]+\.[\w-]{22}"/g, '"asOf":"made"')
      // The rank of a card that nobody moved is derived from its id; `lastUsedAt` is written outside the request.
      .replaceAll(/"rank":"[^"]*"/g, '"rank":"made"')
      .replaceAll(/"lastUsedAt":("[^"]*"|null)/g, '"lastUsedAt":"measured"')
      .replaceAll(/"(\w*(?:Ms|ms|MsP\d+|Bytes|bytesIn|bytesOut))":[\d.]+/g, '"$1":0')
      // The compressed length depends on the ids.
      .replaceAll(/("recording":\{"bytes":)\d+/g, '$10');
    return same === '' ? null : (JSON.parse(same) as Json);
  };
}

function visible(reply: Reply, show: (text: string) => Json): unknown {
  const json = show(reply.text);
  if (json?.error) {
    delete json.error.requestId;
    // Only texts have line numbers; values have none.
    json.error.message = json.error.message.replace(
      /( See|: expected .* at) line \d+, column \d+\.$/,
      (_: string, how: string) => (how === ' See' ? '' : '.'),
    );
  }
  const location = reply.headers.get('location');
  return {
    status: reply.status,
    json,
    location: location === null ? null : show(JSON.stringify(location)),
    isReplay: reply.headers.get('idempotent-replayed'),
  };
}

/** The response of each operation, followed by all events. */
async function lifeOf(app: TestApp, call: Client): Promise<unknown[]> {
  const routes = new Map(app.app.routes.map((route) => [route.name, route]));
  const show = comparable();
  const transcript: unknown[] = [];
  // Background work ends before each request, so that the order of events is fixed.
  const unhurried: Client = async (...args) => {
    await app.settled();
    return call(...args);
  };
  await everyOperation({ ...app, call: unhurried }, hookUrl, async (name, path, body) => {
    const route = routes.get(name)!;
    if (!hasValue(route)) return null;
    // Distinct creation times fix the order of the objects.
    await app.settled();
    app.clock.advance(10);
    const reply = await unhurried(route.method, path, body);
    // Usage is measured, so that it differs between runs.
    if (name !== 'usage.get') transcript.push([name, visible(reply, show)]);
    return reply.json;
  });
  await app.settled();
  const events: Json[] = [];
  for (let page: Json = null; page === null || page.pageInfo.hasNextPage;) {
    page = (await app.call('GET', `/api/v1/events?limit=100&after=${events.at(-1)?.sequence ?? 0}`)).json;
    events.push(...page.data);
  }
  return [...transcript, ...events.map((event) => show(JSON.stringify(event)))];
}

test('every operation gives the same response and the same events through both adapters', async () => {
  const lives: unknown[][] = [];
  for (const clientOf of [
    (app: TestApp) => app.call,
    (app: TestApp) => valueClientOf(app, app.workspace.apiKey),
  ]) {
    const app = await startApp({ flags, random: () => 0.5 });
    app.clock.advance(10);
    lives.push(await lifeOf(app, clientOf(app)));
    await app.stop();
  }
  expect(lives[1]).toEqual(lives[0]!);
  expect(lives[0]!.length).toBeGreaterThan(150);
}, 120_000);

describe('both adapters answer alike:', () => {
  let app: TestApp;
  let own: Seeds;
  let foreign: Seeds;
  let owner: Pair;
  let routes: readonly Route[];
  const simulated = { 'tatami-mode': 'simulate' };

  const pairOf = (token: string): Pair => ({ http: app.clientOf(token), values: valueClientOf(app, token) });

  /** Sends the request through both adapters, compares the responses, and returns one. */
  const alike = async ({ http, values }: Pair, route: Route, asking: Asking = {}): Promise<Reply> => {
    const { ids = own, query = '' } = asking;
    const path = fillPath(route.path, route.params, ids) + query;
    const body = 'body' in asking ? asking.body : exampleOf(route, hookUrl);
    const headers = { ...simulated, ...asking.headers };
    // Over HTTP a missing body is an empty text.
    const text = route.method === 'GET' ? undefined : (JSON.stringify(body) ?? (route.body ? '' : undefined));
    const first = await http(route.method, path, text, headers);
    const second = await values(route.method, path, body, headers);
    const visibleReplies = [second, first].map((reply) => [
      route.name,
      query,
      body,
      visible(reply, comparable()),
    ]);
    expect(visibleReplies[0]).toEqual(visibleReplies[1]!);
    return first;
  };

  interface Asking {
    readonly ids?: Seeds;
    readonly query?: string;
    readonly body?: unknown;
    readonly headers?: Record<string, string>;
  }

  beforeAll(async () => {
    app = await startApp({ flags });
    const other = await app.addWorkspace('Other', 'OTHER');
    own = await seed(app, app.call, 'ENG', hookUrl);
    foreign = await seed(app, app.clientOf(other.apiKey), 'OTHER', hookUrl);
    owner = pairOf(app.workspace.apiKey);
    routes = app.app.routes.filter((route) => hasValue(route) && route.name !== 'usage.get');
  });
  afterAll(() => app.stop());

  test('examples in simulate mode, without effect', async () => {
    const from = await app.lastSequence();
    const statuses = new Set<number>();
    for (const route of routes) statuses.add((await alike(owner, route)).status);
    expect([...statuses].filter((status) => status < 400).length).toBeGreaterThan(2);
    expect(await app.lastSequence()).toBe(from);
  });

  test('ids that do not exist or belong to another workspace', async () => {
    // The first creates a missing object, and the second names a column, not an object.
    const others = ['issues.external.put', 'issues.board-column'];
    for (const route of routes.filter(({ params, name }) => params && !others.includes(name)))
      for (const ids of [nowhere, foreign]) {
        if ((await alike(owner, route, { ids, query: requiredQueryOf(route) })).status !== 404)
          expect(route.name).toBe('without an id in its path');
      }
  });

  test('requests without the scope', async () => {
    for (const scope of new Set(routes.flatMap((route) => route.scope ?? []))) {
      const left = allScopes.filter((one) => !expandScopes([one]).has(scope));
      const pair = pairOf(await app.mintKey(left));
      for (const route of routes.filter((one) => one.scope === scope))
        expect((await alike(pair, route)).status).toBe(403);
    }
  });

  test('requests with versions and idempotency keys', async () => {
    for (const route of routes.filter(({ kind }) => kind === 'write')) {
      await alike(owner, route, { headers: { 'if-match': '"999"' } });
      const commit = { 'tatami-mode': 'commit', 'idempotency-key': 'x'.repeat(256) };
      expect((await alike(owner, route, { headers: commit })).status).toBe(422);
    }
  });

  test('hostile values in each parameter and each property', async () => {
    const names = (schema: TSchema | undefined): string[] =>
      Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
    const all = [...hostileValues, undefined];
    const some = shared(all, 16);
    const someBodies = shared(all, 4);
    for (const route of routes) {
      const example = exampleOf(route, hookUrl);
      for (const name of [...names(route.query), 'surprise', '__proto__'])
        for (const value of some())
          await alike(owner, route, { query: `?${new URLSearchParams([[name, String(value)]])}` });
      for (const name of [...names(route.body), 'surprise'])
        for (const value of some()) await alike(owner, route, { body: { ...example, [name]: value } });
      if (route.method !== 'GET') for (const body of someBodies()) await alike(owner, route, { body });
    }
  }, 60_000);

  test('random valid and invalid requests from the schemas', async () => {
    for (const route of routes) {
      const ids = [own, nowhere];
      const bodies = route.body ? sometimesBroken(arbitraryOf(route.body, ids)) : fc.constant(undefined);
      const queries = route.query ? arbitraryOf(route.query, ids) : fc.constant({});
      for (const [body, queryValues] of fc.sample(fc.tuple(bodies, queries), {
        seed: 20261122,
        numRuns: 4,
      })) {
        const entries = Object.entries(queryValues as object).filter(([, value]) => value !== undefined);
        const search = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]));
        await alike(owner, route, { body, query: `?${search}` });
      }
    }
  }, 60_000);
});
