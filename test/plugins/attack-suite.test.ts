// The suite that `tatami plugin attack` makes to an operator's server, made to a server of ours.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createCall } from '../../sdk/client/call.ts';
import { forgeries, hostiles, runSuite, type Verdict } from '../../core/commands/plugin/attack/suite.ts';
import { startApp, type TestApp } from '../app.ts';
import { attackGroups } from './attack-groups.ts';

/** What never settles is stopped after the ten seconds that any run may take; test/sandbox/attacks.test.ts has it with a shorter wall. */
const tried = hostiles.filter(({ name }) => process.env.TATAMI_LONG || name !== 'never-settles');

let app: TestApp;
let stranger: string;
let verdicts: readonly Verdict[];

beforeAll(async () => {
  app = await startApp();
  const other = await app.addWorkspace('Other', 'ENG');
  const made = await app.clientOf(other.apiKey)('POST', '/api/v1/issues', { team: 'ENG', title: 'theirs' });
  stranger = made.json.id;
  const call = createCall({ server: app.url, token: app.workspace.apiKey });
  verdicts = await runSuite({ call, team: 'ENG', stranger, hostiles: tried });
});
afterAll(() => app.stop());

test('every attack is held, and a plugin beside them goes on', () => {
  expect(verdicts.filter(({ verdict }) => verdict !== 'held')).toEqual([]);
  expect(verdicts.length).toBe(tried.length + forgeries.length + 1);
});

test('the suite leaves nothing', async () => {
  expect((await app.call('GET', '/api/v1/plugins')).json.data).toEqual([]);
  expect((await app.call('GET', '/api/v1/issues')).json.data).toEqual([]);
});

test('the suite tells where a wall is missing', async () => {
  const call = createCall({ server: app.url, token: app.workspace.apiKey });
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
  const found = await runSuite({
    call,
    team: 'ENG',
    stranger,
    hostiles: weak,
    forgeries: [
      {
        group: 44,
        name: 'good',
        forge: (good) => ({ ...good, manifest: { ...good.manifest, id: 'test.good' } }),
      },
    ],
  });
  expect(Object.fromEntries(found.map(({ name, verdict }) => [name, verdict]))).toEqual({
    finds: 'got through',
    'goes-on': 'got through',
    writes: 'got through',
    'other-stop': 'not judged',
    good: 'got through',
    'a plugin beside them': 'held',
  });
});

test('an interrupted suite leaves nothing', async () => {
  const call = createCall({ server: app.url, token: app.workspace.apiKey });
  const stop = new AbortController();
  const found = await runSuite({
    call,
    team: 'ENG',
    stranger,
    hostiles: hostiles.slice(16, 24),
    signal: stop.signal,
    onVerdict: () => stop.abort(),
  });
  expect(found.length).toBeLessThan(8);
  expect((await app.call('GET', '/api/v1/plugins')).json.data).toEqual([]);
  expect((await app.call('GET', '/api/v1/issues')).json.data).toEqual([]);
});

test('each of the 46 groups is tried by the suite or by a test that is there', () => {
  const inSuite = new Set([...hostiles, ...forgeries].map(({ group }) => group));
  expect(Object.keys(attackGroups)).toEqual(Array.from({ length: 46 }, (_, index) => String(index + 1)));
  for (const [number, { tests }] of Object.entries(attackGroups)) {
    const isTried = inSuite.has(Number(number)) || tests.length > 0;
    expect([number, isTried]).toEqual([number, true]);
    for (const file of tests)
      expect([file, existsSync(join(import.meta.dir, '../..', file))]).toEqual([file, true]);
  }
});
