// Random operations through the public API: every write route, plugins on probation, proposals, undos (of several
// objects, and of undos), purges, bulk requests and elapsed time. Requests are mostly valid, with ids of objects from
// earlier responses.
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import type { Route } from '../../core/kernel/http/route.ts';
import { allScopes } from '../../core/kernel/rights/table.ts';
import type { Client, Json, TestApp } from '../app.ts';
import { arbitraryOf } from '../api/arbitrary.ts';
import { exampleOf, fillPath, formOf, nameOfId, type Seeds } from '../api/seeds.ts';
import { makeGrant } from '../features/oauth/grant.ts';
import { packSource } from '../features/plugins/pack.ts';
import type { Random } from '../random.ts';
import { reworkAtRandom } from './random-runs.ts';

const v1 = '/api/v1';
const plugin = `${v1}/plugins/com.test.random`;
const hourMs = 3_600_000;
const isUuid = /^01a[0-9a-f]{5}-[0-9a-f]{4}-7/;
/** Operations that end the test's own credential or objects, or need another type of body. */
const excluded = [
  'plugins.install',
  'plugins.preview',
  'plugins.gate',
  'plugins.begin-shadow',
  'backtests.create',
];
/** Weights of important routes, which would rarely be reached by chance. */
const weights: Readonly<Record<string, number>> = {
  'issues.create': 8,
  'issues.update': 8,
  'issues.delete': 2,
  'issues.restore': 2,
  'comments.create': 3,
  'proposals.approve': 3,
  'proposals.undo': 2,
  'plugins.update': 3,
  'runs.undo': 3,
};

export interface World {
  readonly app: TestApp;
  readonly random: Random;
  /** Requests, each with the status of its response. */
  readonly done: string[];
  step(): Promise<void>;
  /**
   * Writes of a plugin, undone a random number of times.
   * @returns true if something was undone
   */
  rework(): Promise<boolean>;
}

/** @param random seeded, so that the same steps follow */
export async function createWorld(app: TestApp, random: Random, hookUrl: string): Promise<World> {
  const routes = app.app.routes.filter(
    ({ scope, kind, name }) => scope !== null && kind === 'write' && !excluded.includes(name),
  );
  const drawn = routes.flatMap((route) => Array<Route>(weights[route.name] ?? 1).fill(route));
  const { data: keys } = (await app.call('GET', `${v1}/api-keys`)).json;
  const pool = createPool(app, random, [keys[0].id]);
  const done: string[] = [];
  let other = await secondAdmin(app);
  const ask = async (method: string, path: string, body?: unknown, headers = {}): Promise<Json> => {
    const { status, json } = await (random.once(3) ? other : app.call)(method, path, body, headers);
    done.push(`${method} ${path} ${JSON.stringify(body)?.slice(0, 300) ?? ''} ${status}`);
    if (status >= 500) throw new Error(done.at(-1));
    // Objects of a proposal do not exist yet.
    if (status < 400) pool.learn(status === 202 ? json.id : json);
    // An operation has ended its key or its member.
    if (status === 401) other = await secondAdmin(app);
    if (status === 404 && random.once(2)) pool.forget(path);
    return json;
  };
  const request = async (): Promise<void> => {
    const ids = pool.pick();
    const possible = drawn.filter((route) => isKnown(route, ids));
    const route = random.of(possible);
    const body = route.body ? bodyOf(route, ids, random, hookUrl) : undefined;
    const headers = random.once(6) ? { 'tatami-mode': 'propose' } : {};
    await ask(route.method, fillPath(route.path, route.params, ids), body, headers);
  };
  const packages = await Promise.all(['1.0.0', '1.1.0', '2.0.0'].map(packageOf));
  const rework = (): Promise<boolean> => reworkAtRandom(ask, random);
  const others: readonly (() => Promise<unknown>)[] = [
    rework,
    () => ask('POST', `${v1}/plugins`, installBody(random, random.of(packages))),
    () => (random.once(3) ? ask('DELETE', plugin) : ask('POST', `${plugin}/routes/hook/open`)),
    () => ask('PATCH', plugin, { state: random.of(['active', 'active', 'paused_by_admin']) }),
    () =>
      ask('POST', `${plugin}/consent`, {
        grant: ['issues:write', 'comments:write'],
        sha256: packages[2]!.sha256,
      }),
    () => ask('POST', `${v1}/issues`, { team: 'ENG', title: `Trigger ${random.below(1000)}` }),
    () =>
      ask('PATCH', `${v1}/issues/${pool.pick().issue}`, { priority: 'low' }, { 'tatami-mode': 'propose' }),
    () => ask('POST', `${v1}/teams`, { key: `T${random.below(1000)}` }),
    () => {
      const cycles = random.of([{ weeks: 1 }, { weeks: 2, cooldownWeeks: 1 }, null]);
      return ask('PATCH', `${v1}/teams/ENG`, { cycles, triage: random.of(['off', 'all']) });
    },
    () =>
      ask('PATCH', `${v1}/issues/${pool.pick().issue}`, {
        fields: { severity: random.of(['low', 'high', null]) },
      }),
    () =>
      ask('POST', `${v1}/issues/${pool.pick().issue}/attachments/upload?name=a.txt`, `${random.below(9)}`, {
        'content-type': 'text/plain',
      }),
    () => ask('POST', `${v1}/members`, { name: 'Guest', role: 'guest', teams: ['ENG'] }),
    async () => pool.learn(await makeGrant(app, { memberId: app.workspace.userId })),
    () =>
      ask('POST', `${v1}/issues/bulk-update`, {
        ids: [...new Set([pool.pick().issue, pool.pick().issue])],
        set: { removeLabels: ['bug'], priority: random.of(['low', 'high']) },
      }),
    async () => {
      const { issue } = pool.pick();
      if (random.once(2)) return;
      await ask('DELETE', `${v1}/issues/${issue}`);
      await ask('POST', `${v1}/issues/${issue}/purge`);
    },
    ...['runs', 'proposals', 'inbox', 'labels', 'workflows', 'cycles', 'members', 'teams'].map(
      (path) => async () => pool.learn((await app.call('GET', `${v1}/${path}`)).json),
    ),
    async () => {
      app.clock.advance(random.once(30) ? 40 * 24 * hourMs : random.of([1_000, hourMs, 30 * hourMs]));
      await app.settled();
    },
  ];
  for (const path of ['workflows', 'teams', 'labels'])
    pool.learn((await app.call('GET', `${v1}/${path}`)).json);
  return {
    app,
    random,
    done,
    rework,
    async step() {
      await (random.once(3) ? random.of(others)() : request());
      if (random.once(4)) await app.settled();
      pool.learn((await app.call('GET', `${v1}/plugins`)).json);
    },
  };
}

async function secondAdmin(app: TestApp): Promise<Client> {
  const { json: member } = await app.call('POST', `${v1}/members`, { name: 'Ben', role: 'admin' });
  const terms = { name: 'ben', memberId: member.id, scopes: allScopes };
  const { json: key } = await app.call('POST', `${v1}/api-keys`, terms);
  return app.clientOf(key.key);
}

/** Ids from responses, by their entity. */
function createPool(app: TestApp, random: Random, keyIds: readonly string[]) {
  const known = new Map<string, string[]>();
  const own = new Set([app.workspace.userId, app.workspace.workspaceId, ...keyIds]);
  const learn = (value: unknown): void => {
    if (typeof value === 'string') {
      const name =
        own.has(value) || value.includes('sampe')
          ? undefined
          : (nameOfId(value) ?? (isUuid.test(value) ? 'team' : undefined));
      if (name === undefined) return;
      const ids = known.get(name) ?? [];
      if (!ids.includes(value)) known.set(name, [...ids, value].slice(-12));
    } else if (value !== null && typeof value === 'object') Object.values(value).forEach(learn);
  };
  return {
    learn,
    /** Removes the objects that a path names. */
    forget(path: string): void {
      for (const [name, ids] of known) {
        const left = ids.filter((id) => !path.includes(id));
        if (left.length > 0) known.set(name, left);
        else known.delete(name);
      }
    },
    pick: (): Seeds => ({
      ...Object.fromEntries([...known].map(([name, ids]) => [name, random.of(ids)])),
      pluginRef: 'com.test.random',
      externalId: 'random',
    }),
  };
}

/** True if the path of a route names existing objects. */
function isKnown(route: Route, ids: Seeds): boolean {
  try {
    fillPath(route.path, route.params, ids);
    return true;
  } catch {
    return false;
  }
}

/** True if a random value of the property is likely to be accepted. */
function isSimple(schema: TSchema, ids: Seeds): boolean {
  const shape = schema as {
    type?: string;
    enum?: unknown;
    pattern?: string;
    format?: string;
    anyOf?: TSchema[];
    items?: TSchema;
  };
  if (shape.enum || shape.type === 'boolean' || shape.type === 'integer') return true;
  const form = formOf(schema);
  if (form !== undefined) return ids[form] !== undefined;
  if (shape.anyOf)
    return shape.anyOf.every(
      (branch) => (branch as { type?: string }).type === 'null' || isSimple(branch, ids),
    );
  if (shape.type === 'array')
    return shape.items !== undefined && formOf(shape.items) !== undefined && isSimple(shape.items, ids);
  return shape.type === 'string' && shape.pattern === undefined && shape.format === undefined;
}

/** Example body of the route with random properties from its schema. */
function bodyOf(route: Route, ids: Seeds, random: Random, hookUrl: string): unknown {
  const { properties = {}, required = [] } = route.body as TSchema as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(exampleOf(route, hookUrl) ?? {}))
    if (required.includes(name) || !random.once(3)) body[name] = value;
  for (const [name, schema] of Object.entries(properties)) {
    if (!isSimple(schema, ids)) continue;
    const isId = /Ids?$|^ids$/.test(name);
    if (!random.once(name in body ? (isId ? 1 : 4) : isId ? 4 : 8)) continue;
    const [value] = fc.sample(arbitraryOf(schema, [ids]), { seed: random.below(2 ** 31), numRuns: 1 });
    body[name] = value;
  }
  return body;
}

function packageOf(version: string) {
  const more = version === '2.0.0' ? ", 'labels:read': { why: 'test' }" : '';
  return packSource(`{
    id: 'com.test.random', version: '${version}', engines: { tatami: '*' },
    scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' }${more} },
    settings: { type: 'object', properties: { tone: { type: 'string', default: 'kind' } } },
    routes: { hook: { method: 'POST', auth: 'hmac', why: 'test', handle() {} } },
    schedules: { nightly: { cron: '0 3 * * *', async handle(_, ctx) { await ctx.schedule.once('remind', ctx.now() + 3600000); } }, remind: { handle() {} } },
    secrets: { ACME_KEY: { hosts: ['https://api.acme.dev'], header: 'x-key' } },
    net: [{ origin: 'https://api.acme.dev', why: 'test' }],
    on: { 'issue.created': { async handle(event, ctx) {
      await ctx.issues.update(event.data.id, { priority: 'high' });
      await ctx.comments.create(event.data.id, { body: 'Seen' });
      await ctx.kv.set('last', event.data.id);
    } } },
  }`);
}

function installBody(random: Random, document: Json): object {
  return {
    package: document,
    ...(random.once(3) ? {} : { grant: ['issues:write', 'comments:write'] }),
    ...(random.once(3) ? { probation: random.once(2) } : {}),
    ...(random.once(4) ? { mode: random.of(['apply', 'propose', 'simulate']) } : {}),
    downgrade: true,
    replace: true,
  };
}
