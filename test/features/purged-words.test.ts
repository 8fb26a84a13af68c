// A purge of an issue removes its words from everything that a server stores, except from tables whose declaration states that
// they stay. Every kind of data about the issue is present before.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHousekeeping } from '../../core/app/housekeeping/housekeeping.ts';
import { tables } from '../../core/features/tables.ts';
import { dayMs, hourMs } from '../../core/platform/lib/time/time.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { connect } from './agents/agents.ts';
import { install, packSource } from './plugins/pack.ts';
import { ownedByIssues, ownedTables, placesOf } from './purged-words.ts';

/** One word, so that the search index has it as a whole. */
const word = 'hush7f3a';
const scopes = `{ 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' } }`;
const tracked = `engines: { tatami: '*' }, scopes: ${scopes}`;

/** Paths of all requests. */
const asked: string[] = [];
/** Returns the word in a header, and the body of each request, without the id of the issue if it is an event of the issue. */
const echo = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const text = await request.text();
    asked.push(new URL(request.url).pathname);
    const said = text.includes(word) ? word : '';
    return new Response(text.includes('"type":"issue.') ? said : text, { headers: { 'x-word': said } });
  },
});
const origin = `http://127.0.0.1:${echo.port}`;

let app: TestApp;
beforeAll(async () => void (app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } })));
afterAll(async () => {
  await app.stop();
  await echo.stop(true);
});

const call = async (
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
): Promise<Json> => {
  const { status, json, text } = await app.call(method, `/api/v1${path}`, body, headers);
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
  await app.settled();
  return json;
};

/** Plugins that repeat the words of each new issue in all that a run can write. */
const repeats = (version: string, text: string): string => `{
  id: 'com.test.repeats', version: '${version}', ${tracked}, net: [{ origin: '${origin}', why: 'test', retry: 'never' }],
  on: { 'issue.created': { handle: async ({ data }, ctx) => {
    const { title } = await ctx.issues.get(data.id);
    ctx.log.info('Seen ' + title);
    const answer = await ctx.fetch('${origin}/say?' + encodeURIComponent(title), { method: 'POST', body: title });
    await ctx.kv.set(data.id, await answer.text());
    await ctx.schedule.once('later:' + data.id, ctx.now() + 86400000 * 300, { title });
    await ctx.issues.update(data.id, { description: '${text} ' + title });
    await ctx.comments.create(data.id, { body: '${text} ' + title });
  } } },
  schedules: { later: { handle: () => {} } },
}`;
const fails = `{
  id: 'com.test.fails', version: '1.0.0', ${tracked},
  on: { 'issue.created': { order: 'none', handle: ({ data }) => { throw new Drop(data.title); } } },
}`;
const asks = `{
  id: 'com.test.asks', version: '1.0.0', ${tracked},
  on: { 'issue.created': { handle: ({ data }, ctx) => ctx.comments.create(data.id, { body: 'Asks ' + data.title }) } },
}`;
/** Its runs name no issue: only the answers to their calls do. */
const reads = `{
  id: 'com.test.reads', version: '1.0.0', ${tracked}, net: [{ origin: '${origin}', why: 'test' }],
  actions: { titles: { target: 'none', handle: async (_, ctx) => {
    const { data } = await ctx.issues.list({ limit: 50 });
    const titles = data.map(({ title }) => title);
    ctx.log.info(titles.join());
    await ctx.fetch('${origin}/say', { method: 'POST', body: titles.join() });
    return { titles };
  } } },
}`;

/** Adds an admin who can approve proposals of others. @returns the id, and a client */
async function addApprover(): Promise<{ id: string; ask: TestApp['call'] }> {
  const { id } = await call('POST', '/members', { name: 'Bo', email: 'bo@example.com', role: 'admin' });
  const allowed = ['approvals:write', 'issues:write', 'comments:write', 'proposals:write'];
  const { key } = await call('POST', '/api-keys', { name: 'bo', memberId: id, scopes: allowed });
  return { id, ask: app.clientOf(key) };
}

/** Creates an issue, and everything that can be about it. */
async function makeCast(): Promise<Json> {
  const bo = await addApprover();
  const next = await packSource(repeats('1.1.0', 'Again'));
  await install(app.call, await packSource(repeats('1.0.0', 'Repeats')));
  await call('POST', '/plugins/com.test.repeats/shadow', { package: next });
  await install(app.call, await packSource(fails));
  await install(app.call, await packSource(asks), { probation: true });
  await install(app.call, await packSource(reads));
  await call('POST', '/sla-policies', {
    name: 'Soon',
    targetMinutes: 60,
    filter: { title: { contains: 'Hide' } },
  });
  await call('POST', '/webhooks', { url: `${origin}/hooks`, events: ['*'] });
  const agent = await connect(app, await app.mintKey(['issues:write', 'comments:write', 'proposals:read']));
  const made = await agent.call('issues_create', { team: 'ENG', title: `Hide ${word}`, assignee: bo.id });
  await agent.close();
  await app.settled();
  const issue = await call('GET', `/issues/${made.id}`);
  await fillIssue(issue, bo.ask);
  await makeReports(issue, bo.ask, next);
  app.clock.advance(1_000);
  await app.settled();
  return issue;
}

/** Adds objects of all kinds that belong to an issue. */
async function fillIssue({ id }: Json, bo: TestApp['call']): Promise<void> {
  const key = { 'idempotency-key': 'told' };
  await call('PATCH', `/issues/${id}`, { description: `About ${word}`, priority: 'high' }, key);
  const label = await call('POST', '/labels', { name: 'quiet' });
  await call('PATCH', `/issues/${id}`, { labels: [label.id] });
  const { id: comment } = await call('POST', `/issues/${id}/comments`, { body: `@Bo, ${word}?` });
  await call('POST', `/issues/${id}/comments`, { body: `Answer ${word}`, parentId: comment });
  await bo('POST', `/api/v1/comments/${comment}/reactions`, { emoji: '👍' });
  await call('POST', `/issues/${id}/attachments`, {
    title: `Link ${word}`,
    url: `https://example.com/${word}`,
  });
  const upload = `${app.url}/api/v1/issues/${id}/attachments/upload?name=${word}.txt`;
  const headers = { authorization: `Bearer ${app.workspace.apiKey}`, 'content-type': 'text/plain' };
  expect((await fetch(upload, { method: 'POST', headers, body: `File ${word}` })).status).toBe(201);
  const other = await call('POST', '/issues', { team: 'ENG', title: 'Stays' });
  await call('POST', `/issues/${id}/relations`, { type: 'blocks', issueId: other.id });
  const parts = [];
  for (const title of ['First', 'Second'])
    parts.push(await call('POST', '/issues', { team: 'ENG', title, parentId: id }));
  await call('POST', `/issues/${parts[1].id}/reorder`, { position: 'top' });
  for (const part of parts) await call('PATCH', `/issues/${part.id}`, { parentId: null });
  const board = await call('POST', '/boards', { name: 'All', sort: 'manual' });
  await call('POST', `/boards/${board.id}/move`, { issueId: id, column: 'Backlog', position: 'top' });
  const pipeline = await call('POST', '/pipelines', { name: 'Editor', team: 'ENG' });
  const release = await call('POST', '/releases', { name: 'Spring', tag: '1', pipelineId: pipeline.id });
  await call('POST', `/releases/${release.id}/issues`, { issueIds: [id] });
}

/** Makes proposals, reports and runs about an issue. */
async function makeReports({ id }: Json, bo: TestApp['call'], next: Json): Promise<void> {
  const proposing = { 'tatami-mode': 'propose' };
  for (const verb of ['approve', 'reject', null]) {
    const body = { description: `Proposed ${verb} ${word}` };
    const { id: proposal } = await call('PATCH', `/issues/${id}`, body, proposing);
    if (verb === null) continue;
    const { status } = await bo(
      'POST',
      `/api/v1/proposals/${proposal}/${verb}`,
      verb === 'reject' ? { reason: 'No.' } : undefined,
    );
    expect(status).toBe(200);
  }
  await call('POST', '/plugins/com.test.reads/actions/titles', {});
  const window = { since: '2026-11-20T00:00:00Z' };
  await call('POST', '/plugins/com.test.repeats/backtests', { ...window, package: next });
  await call('POST', '/plugins/com.test.fails/backtests', window);
  await call('POST', '/plugins/com.test.repeats/gate', { package: next });
}

async function pass(ms: number): Promise<void> {
  app.clock.advance(ms);
  await app.settled();
  const { store, log, blobs } = app.services;
  const days = {
    deleted: 90,
    runs: 14,
    recordings: 14,
    undo: 30,
    deliveries: 30,
    events: null,
    snapshots: null,
  };
  const options = {
    store,
    log,
    clock: app.clock,
    retention: days,
    blobs,
    snapshots: `${app.dataDir}/snapshots`,
  };
  await createHousekeeping(options).sweep();
}

/** Tables whose declaration states why their rows may quote a purged issue. */
const staying = tables.flatMap(({ name, quotes }) => ('stays' in quotes ? [name as string] : []));
const tablesWithWords = (): string[] => [
  ...new Set(placesOf(app, [word]).map((place) => place.split('.')[0]!)),
];

test('after a purge the words of the issue are only where a declaration states that they stay', async () => {
  const issue = await makeCast();
  // Otherwise the test would prove nothing.
  expect(placesOf(app, [word])).toEqual([
    ...['attachments.title', 'attachments.url', 'attempts.response_body', 'attempts.response_headers_json'],
    ...['backtests.report_json', 'blobs', 'comments.body', 'idempotency.body', 'inbox_items.body'],
    ...['issues.description', 'issues.title', 'journal.request', 'journal.response_json'],
    ...['one_time_jobs.input_json', 'plugin_kv.value_json', 'proposals.diff_json'],
    ...['proposals.writes_sealed_json', 'run_records.data', 'runs.effects_json', 'runs.error_json'],
    ...['runs.logs_json', 'runs.result_json', 'search_index.term', 'shadows.report_json'],
    'stored_changes.changes',
  ]);
  expect(ownedTables(app, issue.id)).toEqual(ownedByIssues.map(({ name }) => name as string).sort());

  await call('DELETE', `/issues/${issue.id}`);
  await call('POST', `/issues/${issue.id}/purge`);
  expect(ownedTables(app, issue.id)).toEqual([]);
  // A second search finds what was written during the first one, such as the delivery of the purge itself.
  app.clock.advance(15 * 60_000);
  await app.settled();
  // Content of files is removed after an hour.
  const found = tablesWithWords();
  expect(found.filter((name) => name !== 'blobs' && !staying.includes(name))).toEqual([]);

  await pass(2 * hourMs);
  await pass(dayMs);
  expect(tablesWithWords()).toEqual(['one_time_jobs', 'plugin_kv']);
}, 60_000);

test('a run that waits for its next attempt at the purge does not repeat its requests', async () => {
  await install(
    app.call,
    await packSource(`{
      id: 'com.test.waits', version: '1.0.0', ${tracked}, net: [{ origin: '${origin}', why: 'test' }],
      on: { 'issue.created': { handle: async ({ data }, ctx) => {
        await ctx.fetch('${origin}/once', { method: 'POST', body: data.title });
        if (ctx.run.attempt === 1) throw new RetryLater(3600000);
      } } },
    }`),
  );
  const { id } = await call('POST', '/issues', { team: 'ENG', title: 'Short-lived' });
  await call('DELETE', `/issues/${id}`);
  await call('POST', `/issues/${id}/purge`);
  app.clock.advance(2 * hourMs);
  await app.settled();
  const { data } = await call('GET', '/plugins/com.test.waits/runs');
  expect(data.map(({ status, attempt }: Json) => [status, attempt])).toEqual([['succeeded', 2]]);
  expect(asked.filter((path) => path === '/once')).toHaveLength(1);
});
