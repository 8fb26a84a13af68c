// `tatami automations`: runs of rules, and what people read about them.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../app.ts';
import { tatami, type CliResult } from './tatami.ts';

const v1 = '/api/v1';
let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.stop();
});

const run = (...args: string[]): Promise<CliResult> =>
  tatami(args, { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey });
const created = async (path: string, body: object): Promise<Json> => {
  const { status, json } = await app.call('POST', `${v1}${path}`, body);
  expect([path, status]).toEqual([path, 201]);
  return json;
};
const newIssue = (title: string): Promise<Json> => created('/issues', { team: 'ENG', title });
const newRule = async (name: string, actions: readonly object[], more: object = {}): Promise<Json> => {
  const rule = { name, trigger: { type: 'manual' }, actions, probation: false, ...more };
  const { id } = await created('/automations', rule);
  return (await app.call('POST', `${v1}/automations/${id}/enable`, { force: true })).json;
};

test('a run by hand exits with 0 only if it succeeds', async () => {
  const label = await created('/labels', { name: 'passing' });
  await newRule('Label', [{ type: 'add', field: 'labels', values: ['passing'] }]);
  const done = await run('automations', 'run', 'Label', '--issue', (await newIssue('Labeled')).id);
  expect(done.code).toBe(0);
  await app.call('DELETE', `${v1}/labels/${label.id}`);
  const { identifier } = await newIssue('Not labeled');
  const dead = await run('automations', 'run', 'Label', '--issue', identifier);
  expect([dead.code, dead.err]).toEqual([
    1,
    expect.stringContaining(
      'The run failed and is not retried automatically. Correct the cause, then run the automation again.\n',
    ),
  ]);
  expect(dead.out).toContain('  dead  ');
  const json = await run('automations', 'run', 'Label', '--issue', identifier, '--json');
  expect([json.code, json.json.status]).toEqual([1, 'dead']);
}, 60_000);
