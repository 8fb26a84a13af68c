// A purge removes the content of an issue from every table except the event log, which is history: proposals, runs,
// recordings, changes for undo, and reports of backtests, gates and shadows.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { createHousekeeping } from '../../../core/app/housekeeping/housekeeping.ts';
import { systemStatement } from '../../../core/platform/store/statement.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { placesOf } from '../purged-words.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

const marker = 'hush-7f3a';
/** Words of the marker, as the search index has them. */
const words = [marker, 'hush'];

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

/** Repeats the text of the issue in every kind of record. */
const repeating = (id: string, version: string, words: string): string => `{
  id: '${id}', version: '${version}', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
  on: { 'issue.created': { handle: async (event, ctx) => {
    const { title } = await ctx.issues.get(event.data.id);
    ctx.log.info('seen ' + title);
    await ctx.issues.update(event.data.id, { description: '${words} ' + title });
    await ctx.comments.create(event.data.id, { body: '${words} ' + title });
  } } },
  actions: { both: { target: 'none', input: { type: 'object', additionalProperties: true }, handle: async ({ input }, ctx) => {
    const all = await Promise.all(input.ids.map((id) => ctx.issues.get(id)));
    for (const { id } of all) await ctx.issues.update(id, { priority: 'high' });
    return { titles: all.map(({ title }) => title) };
  } } },
}`;

const holding = (): string[] => placesOf(app, words);

const call = async (method: string, path: string, body?: object, mode?: string): Promise<Json> => {
  const headers = mode === undefined ? {} : { 'tatami-mode': mode };
  const { status, json } = await app.call(method, `/api/v1${path}`, body, headers);
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(json)}`);
  await app.settled();
  return json;
};

test('after a purge no table contains the text of the issue, and records of other issues remain', async () => {
  const document = await packSource(repeating('com.test.says', '1.0.0', 'says'));
  await install(app.call, document);
  const next = await packSource(repeating('com.test.says', '1.1.0', 'repeats'));
  await call('POST', '/plugins/com.test.says/shadow', { package: next });
  await install(app.call, await packSource(repeating('com.test.asks', '1.0.0', 'asks')), { probation: true });
  const simulating = repeating('com.test.plays', '1.0.0', 'plays');
  await install(app.call, await packSource(simulating), { mode: 'simulate' });

  await install(
    app.call,
    await packSource(`{
      id: 'com.test.drops', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
      on: { 'issue.created': { order: 'none', handle: ({ data }, ctx) => {
        ctx.log.info(data.title);
        throw new Drop(data.title);
      } } },
    }`),
  );
  const other = await mintApprover();
  // A proposal about the issue, and one about another issue.
  const proposal = await call('POST', '/issues', { team: 'ENG', title: `Hide ${marker}` }, 'propose');
  const approved = await other('POST', `/api/v1/proposals/${proposal.id}/approve`);
  expect(approved.status).toBe(200);
  await app.settled();
  const { entityId: id } = approved.json.effects[0];
  const retained = await call('POST', '/issues', { team: 'ENG', title: 'Stays' });
  const both = await call('POST', '/plugins/com.test.says/actions/both', {
    input: { ids: [id, retained.id] },
  });
  const open = (await call('GET', '/proposals?status=open')).data;
  const [openOfIt, openOfOther] = [id, retained.id].map((one) =>
    open.find(({ effects }: Json) => effects[0].entityId === one),
  );
  const window = { since: '2026-11-20T00:00:00Z' };
  const backtest = await call('POST', '/plugins/com.test.says/backtests', { ...window, package: next });
  const gate = await call('POST', '/plugins/com.test.says/gate', { package: next });
  // Otherwise the test would prove nothing.
  expect(holding()).toEqual([
    'backtests.report_json',
    'comments.body',
    'inbox_items.body',
    'issues.description',
    'issues.title',
    'proposals.diff_json',
    'proposals.title',
    'proposals.writes_sealed_json',
    'run_records.data',
    'runs.effects_json',
    'runs.error_json',
    'runs.logs_json',
    'runs.result_json',
    'search_index.term',
    'shadows.report_json',
    'stored_changes.changes',
  ]);

  await call('DELETE', `/issues/${id}`);
  const from = await app.lastSequence();
  await call('POST', `/issues/${id}/purge`);
  expect(holding()).toEqual([]);
  const events = (await app.eventTypes(from)).filter((type) => !type.startsWith('inbox.'));
  expect(events).toEqual(['issue.purged', 'automation.rejected']);

  expect(await call('GET', `/proposals/${openOfIt.id}`)).toMatchObject({
    status: 'rejected',
    reason: 'An issue of the proposal was purged.',
    effects: [{ fields: [{ name: 'description' }] }, {}],
  });
  expect((await call('GET', `/proposals/${openOfOther.id}`)).effects[1].fields).toContainEqual(
    expect.objectContaining({ name: 'body', after: 'asks Stays' }),
  );
  expect((await call('GET', `/backtests/${backtest.id}`)).report.effects).toMatchObject([
    { issueId: retained.id },
  ]);
  expect((await call('GET', `/backtests/${gate.id}`)).gate.differences).toHaveLength(1);
  expect((await call('GET', '/plugins/com.test.says/shadow')).report.differences).toHaveLength(1);
  // The run's change of the other issue can still be undone.
  expect(await call('POST', `/runs/${both.id}/undo`)).toMatchObject({
    changes: [{ id: retained.id, fields: [{ field: 'priority', to: 'none' }] }],
  });
});

test('the record of a purge is deleted after a second search', async () => {
  const waiting = async (): Promise<number> => (await app.services.store.readSystem(allPurged)).length;
  expect(await waiting()).toBe(1);
  app.clock.advance(15 * 60_000);
  await app.settled();
  expect(await waiting()).toBe(0);
});

test('records about an issue that was deleted long ago are purged as well', async () => {
  const issue = await call('POST', '/issues', { team: 'ENG', title: `Old ${marker}` });
  await call('DELETE', `/issues/${issue.id}`);
  expect(holding()).toContain('run_records.data');
  app.clock.advance(1_000);
  const { store, log, blobs } = app.services;
  const retained = {
    ...{ deleted: 0, runs: 14, recordings: 14, undo: 30, deliveries: 30 },
    ...{ events: null, snapshots: null },
  };
  const snapshots = join(app.dataDir, 'snapshots');
  await createHousekeeping({ store, log, clock: app.clock, retention: retained, blobs, snapshots }).sweep();
  // The queue searches at regular intervals.
  app.clock.advance(60_000);
  await app.settled();
  expect(holding()).toEqual([]);
});

const allPurged = systemStatement<{ id: string }>(
  'test.purged',
  'it is asked of all workspaces',
  'SELECT id FROM purged_issues',
);

/** Another member with the approval scope. */
async function mintApprover(): Promise<TestApp['call']> {
  const member = await call('POST', '/members', { name: 'Bo', email: 'bo@example.com', role: 'admin' });
  const { key } = await call('POST', '/api-keys', { name: 'bo', memberId: member.id, scopes: allScopes });
  return app.clientOf(key);
}
const allScopes = ['approvals:write', 'issues:write', 'comments:write', 'proposals:read', 'proposals:write'];
