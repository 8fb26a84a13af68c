// The suite of `tatami plugins attack`, run against a test server.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createCall, type Call } from '../../../sdk/client/call.ts';
import {
  forgeries,
  hostiles,
  runSuite,
  scenes,
  type SuiteOptions,
  type SuiteVerdict,
} from '../../../sdk/attack/index.ts';
import { packageOf } from '../../../sdk/attack/case.ts';
import { poll } from '../../../core/app/cli/lib/poll.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';
import { attackGroups } from './attack-groups.ts';
import { install, packSource } from './pack.ts';

/**
 * Without `never-settles`, which takes the full ten seconds of a run; test/sandbox/attacks.test.ts has it with a
 * shorter limit.
 */
const tried = hostiles.filter(({ name }) => process.env.TATAMI_LONG || name !== 'never-settles');

let app: TestApp;
let stranger: string;
let verdicts: readonly SuiteVerdict[];

function suiteOptions(): SuiteOptions {
  const callAs = (token: string): Call => createCall({ server: app.url, token });
  const ask = callAs(app.workspace.apiKey);
  // Advances the clock while the suite waits for the bystander: a run that exceeded its CPU limit on a busy machine is
  // retried later.
  const call: Call = (method, path, ...more) => {
    if (path.endsWith('/kv/met')) app.clock.advance(3_600_000);
    return ask(method, path, ...more);
  };
  return { call, callAs, server: app.url, team: 'ENG', stranger };
}

beforeAll(async () => {
  app = await startApp();
  const other = await app.addWorkspace('Other', 'ENG');
  const created = await app.clientOf(other.apiKey)('POST', '/api/v1/issues', {
    team: 'ENG',
    title: 'theirs',
  });
  stranger = created.json.id;
  verdicts = await runSuite({ ...suiteOptions(), hostiles: tried });
});
afterAll(() => app.stop());

test('every attack is contained, and a plugin beside them continues', () => {
  expect(verdicts.filter(({ verdict }) => verdict !== 'held')).toEqual([]);
  expect(verdicts.length).toBe(tried.length + scenes.length + forgeries.length + 1);
});

test('the suite removes everything that it created', async () => {
  expect((await app.call('GET', '/api/v1/plugins')).json.data).toEqual([]);
  expect((await app.call('GET', '/api/v1/issues')).json.data).toEqual([]);
  const keys: Json[] = (await app.call('GET', '/api/v1/api-keys')).json.data;
  expect(keys.filter(({ name, revokedAt }) => name === 'tatami.attack' && revokedAt === null)).toEqual([]);
});

test('the suite includes callers with few scopes, forged route calls, replays and loops of two plugins', () => {
  const added = verdicts.filter(({ name }) => scenes.some((scene) => scene.name === name));
  expect(Object.groupBy(added, ({ group }) => group)).toMatchObject({
    20: [{ name: 'a-loop-replayed', verdict: 'held' }],
    28: [{ name: 'writes-replayed', verdict: 'held' }],
    39: [{ name: 'borrowed-rights', verdict: 'held' }],
    40: [
      {
        name: 'ping-pong',
        verdict: 'held',
        why: expect.stringMatching(/^loop_.*ping.*pong|^loop_.*pong.*ping/),
      },
    ],
    42: Array.from({ length: 10 }, () => ({ verdict: 'held' })),
  });
});

test('the suite reports a missing defense', async () => {
  const weak = [
    { group: 1, name: 'finds', ends: 'harmless', body: `found.push('the host');` },
    { group: 20, name: 'goes-on', ends: 'stopped', body: `` },
    {
      group: 36,
      name: 'writes',
      ends: 'harmless',
      body: `await ctx.issues.update(event.data.id, { priority: 'urgent' });`,
    },
    { group: 20, name: 'other-stop', ends: 'stopped', code: 'cpu', body: `throw new Error('no');` },
  ] as const;
  const results = await runSuite({
    ...suiteOptions(),
    hostiles: weak,
    scenes: [],
    forgeries: [
      {
        group: 44,
        name: 'good',
        forge: (good) => ({ ...good, manifest: { ...good.manifest, id: 'test.good' } }),
      },
    ],
  });
  expect(Object.fromEntries(results.map(({ name, verdict }) => [name, verdict]))).toEqual({
    finds: 'got through',
    'goes-on': 'got through',
    writes: 'got through',
    'other-stop': 'not judged',
    good: 'got through',
    'an uninvolved plugin': 'held',
  });
});

test('a change by an ordinary plugin is not reported as an attack', async () => {
  const bystander = await packSource(`{
    id: 'test.bystander', version: '1.0.0', engines: { tatami: '*' },
    scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' } },
    on: { 'issue.created': { async handle(event, ctx) {
      await ctx.issues.update(event.data.id, { priority: 'low' });
      await ctx.comments.create(event.data.id, { body: 'Seen.' });
    } } },
  }`);
  const { id } = await install(app.call, bystander);
  const weak = {
    group: 36,
    name: 'writes',
    ends: 'harmless',
    body: `await ctx.issues.update(event.data.id, { priority: 'urgent' });`,
  } as const;
  const reads = { ...weak, name: 'reads', body: `await ctx.issues.get(event.data.id);` };
  const { call: ask, ...others } = suiteOptions();
  // Each attack is judged after the bystander has changed its issue.
  const call: Call = async <T>(...request: Parameters<Call>): Promise<T> => {
    const answer = await ask<T>(...request);
    if (request[0] === 'POST' && request[1] === '/issues' && !request[3]?.mode)
      await poll(
        0,
        async () => (await ask<{ version: number }>('GET', `/issues/${(answer as Json).id}`)).version,
        (version) => version > 1,
      );
    return answer;
  };
  const results = await runSuite({
    ...{ ...others, call, hostiles: [weak, reads], forgeries: [] },
    scenes: scenes.filter(({ group }) => group === 28 || group === 39),
  });
  await app.call('DELETE', `/api/v1/plugins/${id}`);
  expect(Object.fromEntries(results.map(({ name, verdict }) => [name, verdict]))).toEqual({
    writes: 'got through',
    reads: 'held',
    'writes-replayed': 'held',
    'borrowed-rights': 'held',
    'an uninvolved plugin': 'held',
  });
});

test('the command prints a line for each attack of the selected groups, and exits with 0', async () => {
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const groups = ['plugins', 'attack', '--team', 'ENG', '--group', '39,40,42,44'];
  const { code, out } = await tatami(groups, remote);
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^39 {2}borrowed-rights +held +\d+ ms {2}no access found$/m),
  ]);
  expect(out).toMatch(/^40 {2}ping-pong +held +\d+ ms {2}loop_/m);
  expect(out).toMatch(/^42 {2}signed-by-another +held +\d+ ms {2}answered 401$/m);
  expect(out).toMatch(/^44 {2}another-code +held/m);
});

test('an interrupted suite removes everything that it created', async () => {
  const stop = new AbortController();
  const results = await runSuite({
    ...suiteOptions(),
    hostiles: hostiles.slice(16, 24),
    signal: stop.signal,
    onVerdict: () => stop.abort(),
  });
  expect(results.length).toBeLessThan(8);
  expect((await app.call('GET', '/api/v1/plugins')).json.data).toEqual([]);
  expect((await app.call('GET', '/api/v1/issues')).json.data).toEqual([]);
});

test('a failed suite removes everything that it created, also attacks in progress', async () => {
  const { call: ask, ...others } = suiteOptions();
  const installs: Promise<unknown>[] = [];
  const failing = Promise.withResolvers<void>();
  const call: Call = async <T>(...request: Parameters<Call>): Promise<T> => {
    const [method, path, , options] = request;
    if (method === 'POST' && path === '/issues' && options?.mode !== 'simulate') {
      failing.resolve();
      throw new Error('no issue is made');
    }
    if (method !== 'POST' || path !== '/plugins') return ask<T>(...request);
    // The bystander and one attack are installed at once, and the others while that attack fails.
    const install = installs.length < 2 ? ask<T>(...request) : failing.promise.then(() => ask<T>(...request));
    installs.push(install);
    return install;
  };
  await expect(runSuite({ ...others, call, hostiles: hostiles.slice(16, 24) })).rejects.toThrow(
    'no issue is made',
  );
  await Promise.all(installs);
  expect(installs.length).toBe(5);
  expect((await app.call('GET', '/api/v1/plugins')).json.data).toEqual([]);
});

test('a missing team is refused before anything is installed', async () => {
  const sequence = await app.lastSequence();
  const { code, err } = await tatami(['plugins', 'attack', '--team', 'NOPE'], {
    TATAMI_SERVER: app.url,
    TATAMI_TOKEN: app.workspace.apiKey,
  });
  expect([code, err]).toEqual([1, expect.stringContaining('team: There is no such team.')]);
  expect(await app.eventTypes(sequence)).toEqual([]);
});

test('a suite removes the remains of an earlier suite, and nothing else', async () => {
  const title = 'tatami.attack-finds';
  const left = { group: 1, name: 'finds', ends: 'harmless', body: '' } as const;
  await install(app.call, packageOf(left, title, title, stranger));
  await install(app.call, packageOf(left, 'test.bystander', title, stranger));
  const created: string[] = [];
  for (const name of [title, `about ${title}`]) {
    const { json } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: name });
    created.push(json.identifier);
  }
  await app.call('POST', '/api/v1/api-keys', { name: 'tatami.attack', scopes: ['issues:read'] });
  await runSuite({ ...suiteOptions(), hostiles: [], scenes: [], forgeries: [] });
  const rest = async (path: string): Promise<Json[]> => (await app.call('GET', path)).json.data;
  expect((await rest('/api/v1/plugins')).map(({ pluginId }) => pluginId)).toEqual(['test.bystander']);
  expect((await rest('/api/v1/issues')).map(({ identifier }) => identifier)).toEqual([created[1]!]);
  const keys = await rest('/api/v1/api-keys');
  expect(keys.filter(({ name, revokedAt }) => name === 'tatami.attack' && revokedAt === null)).toEqual([]);
  await app.call('DELETE', '/api/v1/plugins/test.bystander');
  await app.call('DELETE', `/api/v1/issues/${created[1]}`);
});

test('each of the 46 groups is covered by the suite or by an existing test', () => {
  const inSuite = new Set([...hostiles, ...scenes, ...forgeries].map(({ group }) => group));
  expect(Object.keys(attackGroups)).toEqual(Array.from({ length: 46 }, (_, index) => String(index + 1)));
  for (const [number, { tests }] of Object.entries(attackGroups)) {
    const isTried = inSuite.has(Number(number)) || tests.length > 0;
    expect([number, isTried]).toEqual([number, true]);
    for (const file of tests)
      expect([file, existsSync(join(import.meta.dir, '../../..', file))]).toEqual([file, true]);
  }
});
