// `--dry-run` of commands whose operation responds without content.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { tatami, type CliResult } from '../tatami.ts';

let app: TestApp;
const run = (...args: string[]): Promise<CliResult> =>
  tatami(args, { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey });

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

test('a dry run of a deletion changes nothing, asks nothing and does not claim to be done', async () => {
  const { json } = await app.call('POST', '/api/v1/labels', { name: 'flaky' });
  const from = await app.lastSequence();
  const tried = await run('labels', 'delete', 'flaky', '--dry-run');
  expect([tried.code, tried.out]).toEqual([0, 'Would succeed: delete a label (flaky).\n']);
  const asJson = await run('labels', 'delete', 'flaky', '--dry-run', '--json');
  expect(JSON.parse(asJson.out)).toMatchObject({ done: false, operation: 'labels.delete' });
  expect(await app.eventTypes(from)).toEqual([]);

  const deleted = await run('labels', 'delete', 'flaky', '--yes', '--json');
  expect(JSON.parse(deleted.out)).toMatchObject({ done: true, operation: 'labels.delete' });
  expect((await app.call('GET', `/api/v1/labels/${json.id}`)).status).toBe(404);
});
