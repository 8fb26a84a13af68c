// Shares of rate limits, wait slots and connections: a principal or an address exhausts only its own share, and a
// renewed token is the same principal.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { createFindKey } from '../../core/features/api-keys/token.ts';
import type { FindToken } from '../../core/features/people/authenticate.ts';
import { createSignInLimits } from '../../core/features/sign-in/limits.ts';
import { EgressError } from '../../core/platform/lib/egress/error.ts';
import type { EgressResponse } from '../../core/platform/lib/egress/egress.ts';
import { createDocuments } from '../../core/features/oauth/clients/documents.ts';
import { createFindAccessToken } from '../../core/features/oauth/tokens.ts';
import { createClock, startApp, type Client, type Json, type Reply, type TestApp } from '../app.ts';
import { browserOf, refresh, registerApp, tokensOf, type Browser } from '../features/oauth/client.ts';
import { proveAgain, signIn, type Person } from '../features/sign-in/person.ts';

const v1 = '/api/v1';
const workspaceMax = 300;
let app: TestApp;
let owner: Person;
/** Browser session of the owner. */
let browser: Browser;
beforeAll(async () => {
  app = await startApp({
    flags: {
      ...{ rateLimit: 'on', rateRead: '40', rateWrite: '100', rateSearch: '60' },
      ...{ rateWorkspace: String(workspaceMax), trustedProxy: '127.0.0.0/8, ::1/128' },
    },
  });
  owner = await signIn(app);
  browser = await browserOf(app, owner);
});
afterAll(() => app.stop());

const nextWindow = (): void => app.clock.advance(60_000);
beforeEach(nextWindow);

async function create(path: string, body: object): Promise<Json> {
  const { status, json, text } = await app.call('POST', `${v1}${path}`, body);
  if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
  return json;
}

const keyOf = (memberId: string, scopes: readonly string[] = ['issues:read']): Promise<Json> =>
  create('/api-keys', { name: 'k', memberId, scopes });

async function memberWithKeys(keys: number, fields: object = {}): Promise<{ id: string; calls: Client[] }> {
  const { id } = await create('/members', { name: 'Mallory', ...fields });
  const calls: Client[] = [];
  for (let n = 0; n < keys; n++) calls.push(app.clientOf((await keyOf(id)).key));
  return { id, calls };
}

const guestOf = { role: 'guest', teams: ['ENG'] };
const routes = ['issues', 'issues/iss_1', 'issues/iss_1/trail', 'issues/iss_1/comments', 'me', 'search?q=x'];

/** Calls every route up to its limit, with every key. */
async function storm(calls: readonly Client[]): Promise<Reply[]> {
  const replies: Reply[] = [];
  for (const call of calls)
    for (const route of routes)
      replies.push(...(await Promise.all(Array.from({ length: 45 }, () => call('GET', `${v1}/${route}`)))));
  return replies;
}

const admittedOf = (replies: readonly Reply[]): number =>
  replies.filter(({ status }) => status !== 429).length;

test('a guest who floods six routes with several keys exhausts only the share of the guest', async () => {
  const guest = await memberWithKeys(3, guestOf);
  const quiet = await memberWithKeys(1);
  nextWindow();
  const replies = await storm(guest.calls);
  expect(admittedOf(replies)).toBe(workspaceMax / 2);
  const refused = replies.findLast(({ status }) => status === 429)!;
  expect(refused.headers.get('ratelimit-limit')).toBe(String(workspaceMax / 2));
  expect([refused.json.error.code, refused.headers.get('retry-after')]).toEqual(['rate_limited', '60']);
  for (const call of [app.call, ...quiet.calls])
    for (let n = 0; n < 40; n++) expect((await call('GET', `${v1}/issues`)).status).toBe(200);
});

test('two members who exhaust the total leave a third its reserved share, and the headers count down to its end', async () => {
  const loud = [await memberWithKeys(2), await memberWithKeys(2)];
  nextWindow();
  for (const { calls } of loud) expect(admittedOf(await storm(calls))).toBe(workspaceMax / 2);
  const statuses: number[] = [];
  const remaining: number[] = [];
  for (const route of ['issues', 'members', 'teams', 'labels'])
    for (let n = 0; n < 30; n++) {
      const { status, headers } = await app.call('GET', `${v1}/${route}`);
      statuses.push(status);
      remaining.push(Number(headers.get('ratelimit-remaining')));
    }
  // A third of the total, because three members are active.
  expect(statuses.filter((status) => status === 200)).toHaveLength(workspaceMax / 3);
  expect(remaining[workspaceMax / 3 - 1]).toBe(0);
  expect(admittedOf(await storm(loud[0]!.calls))).toBe(0);
});

test("an app exhausts its part of the limit of its member, and the member's own keys continue", async () => {
  const client = await registerApp(app);
  const params = { scope: 'issues:read' };
  const { access_token: token } = await tokensOf(app, client, { browser, params });
  nextWindow();
  const replies = await storm([app.clientOf(token)]);
  expect(admittedOf(replies)).toBe(workspaceMax / 4);
  expect((await app.call('GET', `${v1}/issues`)).status).toBe(200);
});

test('a rolled key does not reset its limit', async () => {
  const { id } = await create('/members', { name: 'Roller' });
  const first = await keyOf(id);
  nextWindow();
  const old = app.clientOf(first.key);
  for (let n = 0; n < 40; n++) await old('GET', `${v1}/issues`);
  const { key } = (await app.call('POST', `${v1}/api-keys/${first.id}/roll`, {})).json;
  expect((await app.clientOf(key)('GET', `${v1}/issues`)).status).toBe(429);
});

test('a write retried with a rolled key or a refreshed token is replayed, and another principal with the same key writes again', async () => {
  const body = { team: 'ENG', title: 'Once' };
  const create = (token: string): Promise<Reply> =>
    app.clientOf(token)('POST', `${v1}/issues`, body, { 'idempotency-key': 'retry-1' });
  const scopes = ['issues:write'];
  const first = await keyOf(app.workspace.userId, scopes);
  const rolled = (await app.call('POST', `${v1}/api-keys/${first.id}/roll`, {})).json;
  const again = (await app.call('POST', `${v1}/api-keys/${rolled.id}/roll`, {})).json;
  const client = await registerApp(app, { name: 'Retrier' });
  const params = { scope: 'issues:write' };
  const tokens = await tokensOf(app, client, { browser, params });
  const refreshed = (await refresh(app, client, tokens.refresh_token)).json;

  const after = await app.lastSequence();
  const chains = [
    [first.key, rolled.key, again.key],
    [tokens.access_token, refreshed.access_token],
  ];
  const ids = new Set<string>();
  for (const [original = '', ...renewed] of chains) {
    const { status, json, text } = await create(original);
    expect(status).toBe(201);
    ids.add(json.id);
    for (const token of renewed) {
      const repeated = await create(token);
      expect([repeated.text, repeated.headers.get('idempotent-replayed')]).toEqual([text, 'true']);
    }
  }
  const other = await create((await keyOf(app.workspace.userId, scopes)).key);
  expect([other.status, other.headers.get('idempotent-replayed')]).toEqual([201, null]);
  expect(new Set([...ids, other.json.id]).size).toBe(3);
  const types = await app.eventTypes(after);
  expect(types.filter((type) => type === 'issue.created')).toHaveLength(3);
});

test('a response with an idempotency key, and its replay, show a guest only what the guest may read now', async () => {
  await create('/teams', { key: 'SEC', name: 'Secret' });
  const hidden = await create('/issues', { team: 'SEC', title: 'Hidden' });
  const issue = await create('/issues', { team: 'ENG', title: 'Open', parentId: hidden.id });
  const { id } = await create('/members', { name: 'Gus', ...guestOf });
  const guest = app.clientOf((await keyOf(id, ['issues:write'])).key);
  const rename = (title: string, headers: Record<string, string> = {}): Promise<Reply> =>
    guest('PATCH', `${v1}/issues/${issue.id}`, { title }, headers);
  expect((await rename('Plain')).json).toMatchObject({ title: 'Plain', parent: null });
  for (const replayed of [null, 'true']) {
    const { status, json, headers } = await rename('Keyed', { 'idempotency-key': 'guest-1' });
    expect([status, headers.get('idempotent-replayed')]).toEqual([200, replayed]);
    expect(json).toMatchObject({ title: 'Keyed', parent: null });
  }
  await app.call('PATCH', `${v1}/members/${id}`, { teams: ['SEC'] });
  expect((await rename('Keyed', { 'idempotency-key': 'guest-1' })).status).toBe(404);
});

test('the keys of one member cannot open all streams of a workspace', async () => {
  // A garbage-collected response ends its stream, so each one is referenced.
  const opened: Response[] = [];
  const open = async (token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` };
    opened.push(await fetch(`${app.url}${v1}/events/stream`, { headers }));
    return opened.at(-1)!.status;
  };
  const { id } = await create('/members', { name: 'Follower' });
  const statuses: number[] = [];
  for (let key = 0; key < 6; key++) {
    const { key: token } = await keyOf(id, ['events:read']);
    for (let n = 0; n < 20; n++) statuses.push(await open(token));
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(50);
  expect(await open(app.workspace.apiKey)).toBe(200);
  await Promise.all(opened.map(({ body }) => body?.cancel()));
});

test('the keys of one member share one place in fair queues, and the apps of the member share another', async () => {
  const { store } = app.services;
  const uses = { note: () => undefined };
  const { id } = await create('/members', { name: 'Many keys' });
  const [first, second] = [await keyOf(id), await keyOf(id)];
  const partyIn = async (find: FindToken, token: string): Promise<string | undefined> =>
    (await find(token))?.principal.scope.party;
  const findKey = createFindKey({ store, uses });
  expect([await partyIn(findKey, first.key), await partyIn(findKey, second.key)]).toEqual([id, id]);
  const client = await registerApp(app, { name: 'Queue' });
  // Earlier tests advance the clock, and consent needs a recent sign-in.
  await proveAgain(app, owner);
  const { access_token: token } = await tokensOf(app, client, { browser });
  const findAccess = createFindAccessToken({ store, uses });
  expect(await partyIn(findAccess, token)).toBe(`${app.workspace.userId} apps`);
});

test('an address that floods public triage is rate-limited, and every other address is served', async () => {
  const issues = [{ title: 'App crashes when I save', description: 'it fails. '.repeat(300) }];
  const ask = (address: string): Promise<Reply> =>
    app.clientOf(null)('POST', `${v1}/triage`, { issues }, { 'x-forwarded-for': address });
  expect((await ask('203.0.113.1')).status).toBe(200);
  // All addresses of one IPv6 network count as one client.
  const busy = Array.from({ length: 40 }, (_, n) => ask(`2001:db8:1:2::${n + 1}`));
  const others = await Promise.all(Array.from({ length: 6 }, (_, n) => ask(`198.51.100.${n + 1}`)));
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  const replies = await Promise.all(busy);
  const refused = replies.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(20);
  for (const { status, json, headers } of refused)
    expect([status, json.error.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '1']);
});

test('an address with slow client documents leaves slots for other addresses, and known clients are found', async () => {
  const clock = createClock();
  const slow: (() => void)[] = [];
  const documentOf = (url: string): EgressResponse => ({
    ...{
      status: 200,
      headers: { 'content-type': 'application/json' },
      truncated: false,
      latencyMs: 1,
      address: '',
    },
    body: new TextEncoder().encode(
      JSON.stringify({ client_id: url, client_name: 'Agent', redirect_uris: ['http://127.0.0.1/cb'] }),
    ),
  });
  const documents = createDocuments({
    nowMs: clock.nowMs,
    egress: {
      send: ({ url }) =>
        url.includes('slow')
          ? new Promise((_, reject) => slow.push(() => reject(new EgressError('timeout', 'Too slow.'))))
          : Promise.resolve(documentOf(url)),
    },
  });
  const findClient = (host: string, peer: string): Promise<unknown> =>
    documents.find(`https://${host}.example/client`, peer).then(
      (client) => client?.id ?? null,
      (error: Error) => error.message,
    );
  expect(await findClient('known', 'honest')).toBe('https://known.example/client');
  const fetches = Array.from({ length: 40 }, (_, n) => findClient(`slow${n}`, 'attacker'));
  expect(slow.length).toBeLessThanOrEqual(4);
  expect(await findClient('known', 'attacker')).toBe('https://known.example/client');
  expect(await findClient('other', 'honest')).toBe('https://other.example/client');
  for (const fail of slow) fail();
  const messages = await Promise.all(fetches);
  expect(messages.filter((message) => String(message).includes('Try again in a minute')).length).toBe(36);
});

test('a locked account stays locked, regardless of the other accounts and addresses that are tried', () => {
  const clock = createClock();
  const limits = createSignInLimits(clock.monotonicMs);
  const victim = { subject: 'victim', peer: '203.0.113.1', device: null };
  for (let n = 0; n < 10; n++) expect(limits.take(victim)).toBe(true);
  expect(limits.take(victim)).toBe(false);
  // Attempts that the limit of the address rejects, and attempts from new addresses.
  for (let n = 0; n < 60_000; n++)
    limits.waitOf({ subject: `made up ${n}`, peer: '203.0.113.2', device: null });
  for (let n = 0; n < 60_000; n++)
    limits.take({ subject: `other ${n >> 1}`, peer: `peer ${n}`, device: null });
  expect(limits.take({ ...victim, peer: '203.0.113.3' })).toBe(false);
  expect(limits.waitOf({ ...victim, peer: '203.0.113.3' })).toBe(360);
});

test('sign-in counters are removed once they no longer affect a decision', () => {
  const clock = createClock();
  const limits = createSignInLimits(clock.monotonicMs);
  for (let n = 0; n < 1_000; n++) limits.take({ subject: `account ${n}`, peer: `peer ${n}`, device: null });
  const attempt = { subject: 'right', peer: 'right', device: null };
  limits.take(attempt);
  limits.refund(attempt);
  expect(limits.size()).toBe(2_000);
  for (let hours = 0; hours < 2; hours++) {
    clock.advance(3_600_000);
    limits.take(attempt);
  }
  expect(limits.size()).toBeLessThanOrEqual(4);
});
