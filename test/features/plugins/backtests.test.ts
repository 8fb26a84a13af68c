// A backtest runs a version on recorded events in their original state, writes nothing, and compares the result with
// later changes by people.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { spawnTatami, tatami } from '../../cli/tatami.ts';
import { install, packSource } from './pack.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

async function create(title: string, more: object = {}): Promise<Json> {
  app.clock.advance(minute);
  const { json } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title, ...more });
  return json;
}

async function change(id: string, patch: object): Promise<void> {
  app.clock.advance(minute);
  expect((await app.call('PATCH', `/api/v1/issues/${id}`, patch)).status).toBe(200);
}

const byTitle = (version: string, prelude = ''): string => `{
  id: 'com.test.by-title', version: '${version}', engines: { tatami: '*' },
  scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' } },
  on: { 'issue.created': { handle: async (event, ctx) => {
    ${prelude}
    const issue = await ctx.issues.get(event.data.id);
    if (issue.title.startsWith('Bug')) await ctx.issues.update(issue.id, { priority: 'high' });
  } } },
}`;

async function backtest(path: string, body: object): Promise<Json> {
  const { status, json } = await app.call('POST', `/api/v1/${path}`, body);
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(json)}`);
  await app.settled();
  return (await app.call('GET', `/api/v1/backtests/${json.id}`)).json;
}

test("the report compares the plugin with people's changes of the same fields, and nothing is written", async () => {
  const bugs = [];
  for (let i = 1; i <= 6; i++) bugs.push(await create(`Bug ${i}`));
  await create('Wish');
  // Three changes agree, one differs, one is too late, one is missing; one issue was renamed later.
  for (const { id } of bugs.slice(0, 3)) await change(id, { priority: 'high' });
  await change(bugs[3].id, { title: 'Not one at all', priority: 'low' });
  await change(bugs[5].id, { estimate: 3 });
  app.clock.advance(8 * day);
  await change(bugs[4].id, { priority: 'high' });
  await app.settled();
  const before = await app.lastSequence();

  const completed = await backtest('backtests', { package: await packSource(byTitle('1.0.0')) });
  expect(completed).toMatchObject({
    status: 'done',
    pluginId: null,
    plugin: 'com.test.by-title',
    error: null,
  });
  expect(completed.report).toMatchObject({
    events: { wanted: 7, cut: 0 },
    endedBy: null,
    runs: { total: 7, succeeded: 7, failed: 0 },
    fields: [{ field: 'priority', wouldChange: 6, same: 3, opposite: 1, nothing: 2, agreement: 75 }],
    failures: [],
    asOfNow: [],
    effectsLeftOut: 0,
  });
  expect(completed.report.effects[3]).toMatchObject({
    issueId: bugs[3].id,
    before: 'none',
    wouldBe: 'high',
    people: 'opposite',
    peopleMadeIt: 'low',
  });
  expect(completed.report.costs.cpuMs).toBeGreaterThan(0);
  expect(completed.report.costs.calls).toBe(13);

  await app.settled();
  expect(await app.lastSequence()).toBe(before);
  expect((await app.call('GET', `/api/v1/issues/${bugs[4].id}`)).json.version).toBe(2);
  expect((await app.call('GET', '/api/v1/plugins')).json.data).toEqual([]);
});

test("a run reads the state, names and lists of the event's time", async () => {
  const label = (await app.call('POST', '/api/v1/labels', { name: 'Then' })).json;
  const issue = await create('Seen then', { labels: ['Then'], description: 'first words' });
  await app.call('POST', `/api/v1/issues/${issue.id}/comments`, { body: 'Said then.' });
  const comment = (await app.call('GET', `/api/v1/issues/${issue.id}/comments`)).json.data[0];
  await change(issue.id, { priority: 'urgent' });
  await change(issue.id, { description: 'later words', labels: [] });
  await app.call('PATCH', `/api/v1/labels/${label.id}`, { name: 'Now' });
  await app.call('PATCH', `/api/v1/comments/${comment.id}`, { body: 'Said later.' });
  await create('Made later');
  await app.settled();
  const source = `{
    id: 'com.test.sees', version: '1.0.0', engines: { tatami: '*' },
    scopes: { 'issues:write': { why: 'test' }, 'comments:read': { why: 'test' }, 'labels:read': { why: 'test' } },
    on: { 'issue.updated': { filter: { priority: 'urgent' }, handle: async (event, ctx) => {
      const issue = await ctx.issues.get(event.data.id);
      const { data } = await ctx.issues.list({ filter: { title: { contains: 'e' } }, limit: 50 });
      const comment = await ctx.comments.get('${comment.id}');
      await ctx.kv.increment('times');
      await ctx.issues.update(issue.id, { estimate: 1, title: [
        issue.description, issue.labels.map(({ name }) => name).join(), data.some(({ title }) => title === 'Made later'),
        data.find(({ id }) => id === issue.id).description, comment.body, await ctx.kv.get('times'),
      ].join('|') });
      await ctx.issues.update(issue.id, { labels: [] });
      const own = await ctx.issues.get(issue.id);
      await ctx.issues.update(issue.id, { estimate: own.estimate + 1 });
      await ctx.comments.list(issue.id);
    } } },
  }`;
  const { report } = await backtest('backtests', { package: await packSource(source) });
  expect(report.failures).toEqual([]);
  const reported = Object.fromEntries(report.effects.slice(0, 3).map((one: Json) => [one.field, one]));
  expect(reported.title.wouldBe).toBe('first words|Then|false|first words|Said then.|1');
  expect(reported.title.before).toBe('Seen then');
  expect(reported.estimate.wouldBe).toBe(2);
  expect(reported.labels).toMatchObject({ before: [{ name: 'Then' }], wouldBe: [], people: 'same' });
  expect(report.asOfNow).toEqual([{ operation: 'comments.list', reads: report.runs.total }]);
});

test('a version gets no more scopes than its caller holds, and reads no other workspace', async () => {
  const few = app.clientOf(await app.mintKey(['plugins:write', 'issues:read']));
  const reply = await few('POST', '/api/v1/backtests', { package: await packSource(byTitle('1.0.0')) });
  expect([reply.status, reply.json.scopes]).toEqual([202, []]);
  const path = `/api/v1/backtests/${reply.json.id}`;
  await app.settled();
  expect((await app.call('GET', path)).json.report.events.wanted).toBe(0);

  const all = await backtest('backtests', { package: await packSource(byTitle('1.0.0')) });
  // The report contains what was read, so that it needs the same scopes.
  expect((await few('GET', `/api/v1/backtests/${all.id}`)).status).toBe(403);

  const other = await app.addWorkspace('Other', 'OTH');
  const elsewhere = app.clientOf(other.apiKey);
  expect((await elsewhere('GET', path)).status).toBe(404);
  const theirs = await elsewhere('POST', '/api/v1/backtests', {
    package: await packSource(byTitle('1.0.0')),
  });
  await app.settled();
  const seen = await elsewhere('GET', `/api/v1/backtests/${theirs.json.id}`);
  expect(seen.json).toMatchObject({ status: 'done', report: { events: { wanted: 0 } } });
});

test('failures are counted with samples, stored values carry over between events, and the window applies', async () => {
  const since = new Date(app.clock.now() + 1).toISOString();
  for (const title of ['one', 'two', 'three']) await create(title);
  await app.settled();
  const source = `{
    id: 'com.test.fails', version: '1.0.0', engines: { tatami: '*' }, net: [{ origin: 'https://203.0.114.9', why: 'test' }],
    scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' } },
    on: { 'issue.created': { handle: async (event, ctx) => {
      const times = await ctx.kv.increment('times');
      if (event.data.title === 'two') throw new Error('No twos.');
      if (event.data.title.startsWith('Ask')) await fetch('https://203.0.114.9/' + event.data.title);
      if (event.data.title.startsWith('Throw')) throw new Error('No ' + event.data.number + ' of ' + event.data.id);
      await ctx.comments.create(event.data.id, { body: 'Times ' + times });
    } } },
  }`;
  const document = await packSource(source);
  const { report } = await backtest('backtests', { package: document, since });
  expect(report.runs).toEqual({ total: 3, succeeded: 2, failed: 1 });
  expect(report.failures).toMatchObject([
    { what: 'error', count: 1, samples: [{ message: 'Error: No twos.' }] },
  ]);
  expect(report.others).toMatchObject([{ what: 'comment create', count: 2 }]);
  expect(report.others[0].samples.map(({ values }: Json) => values.body)).toEqual(['Times 1', 'Times 2']);
  const few = await backtest('backtests', { package: document, since, events: 1 });
  expect(few.report).toMatchObject({ endedBy: 'events', runs: { total: 1 } });
  const from = new Date(app.clock.now() + 1).toISOString();
  for (const title of ['Ask1', 'Throw 1', 'Ask2', 'Throw 2', 'two']) await create(title);
  await app.settled();
  const { failures, costs } = (await backtest('backtests', { package: document, since: from })).report;
  expect(failures).toMatchObject([
    { what: 'egress_denied', count: 2 },
    { what: 'error', count: 2, samples: [{ message: expect.stringContaining('No ') }, {}] },
    { what: 'error', count: 1, samples: [{ message: 'Error: No twos.' }] },
  ]);
  expect(costs.callsRefused).toBe(2);
  const wrong = await app.call('POST', '/api/v1/backtests', {
    package: document,
    since: '2030-01-01T00:00:00Z',
  });
  expect([wrong.status, wrong.json.error.details[0].path]).toEqual([422, 'since']);
});

test('concurrent runs have the result of sequential runs', async () => {
  const since = new Date(app.clock.now() + 1).toISOString();
  for (let i = 1; i <= 5; i++) await create(`In order ${i}`);
  await app.settled();
  // The first run takes longest, so that later runs read before it has written a value.
  const source = `{
    id: 'com.test.in-order', version: '1.0.0', engines: { tatami: '*' }, partitions: 4,
    scopes: { 'issues:read': { why: 'test' }, 'comments:write': { why: 'test' } },
    on: { 'issue.created': { handle: async (event, ctx) => {
      const place = Number(event.data.title.split(' ').pop());
      for (let i = place; i < 5; i++) await ctx.issues.get(event.data.id);
      const before = await ctx.kv.get('last');
      const times = await ctx.kv.increment('times');
      const { data } = await ctx.kv.list({});
      await ctx.kv.set('last', place);
      await ctx.kv.set('seen-' + place, true);
      if (before === null && place > 1) throw new Error('Nobody was here.');
      const body = [place, times, before, data.map(({ key }) => key).join()].join(' ');
      await ctx.comments.create(event.data.id, { body });
    } } },
  }`;
  const { report } = await backtest('backtests', { package: await packSource(source), since });
  expect(report.runs).toEqual({ total: 5, succeeded: 5, failed: 0 });
  expect(report.others[0].samples.map(({ values }: Json) => values.body)).toEqual([
    '1 1  times',
    '2 2 1 last,seen-1,times',
    '3 3 2 last,seen-1,seen-2,times',
    '4 4 3 last,seen-1,seen-2,seen-3,times',
    '5 5 4 last,seen-1,seen-2,seen-3,seen-4,times',
  ]);
});

test('a canceled backtest ends without a report', async () => {
  const source = `{
    id: 'com.test.slow', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
    on: { 'issue.created': { handle: () => new Promise(() => undefined) } },
  }`;
  const { json } = await app.call('POST', '/api/v1/backtests', { package: await packSource(source) });
  const canceled = await app.call('POST', `/api/v1/backtests/${json.id}/cancel`);
  expect([canceled.status, canceled.json.status]).toEqual([200, 'canceled']);
  await app.settled();
  expect((await app.call('GET', `/api/v1/backtests/${json.id}`)).json).toMatchObject({
    status: 'canceled',
    report: null,
  });
  expect((await app.call('POST', `/api/v1/backtests/${json.id}/cancel`)).status).toBe(409);
});

test('concurrent runs of a gate have the result of sequential runs', async () => {
  // Runs of the installed version take the longer the earlier their event is.
  const counting = (version: string, prelude: string): string => `{
    id: 'com.test.counting', version: '${version}', engines: { tatami: '*' }, partitions: 4,
    scopes: { 'issues:write': { why: 'test' } },
    on: { 'issue.created': { handle: async (event, ctx) => {
      ${prelude}
      await ctx.issues.update(event.data.id, { estimate: await ctx.kv.increment('times') });
    } } },
  }`;
  const slow = `for (let i = Number(event.data.title.split(' ').pop()); i < 5; i++) await ctx.issues.get(event.data.id);`;
  const { id } = await install(app.call, await packSource(counting('1.0.0', slow)));
  for (let i = 1; i <= 5; i++) await create(`Counted ${i}`);
  await app.settled();
  const { gate } = await backtest('plugins/com.test.counting/gate', {
    package: await packSource(counting('1.1.0', '')),
  });
  expect((await app.call('DELETE', `/api/v1/plugins/${id}`)).status).toBe(204);
  expect(gate).toEqual({ runs: 5, same: 5, different: 0, differences: [] });
});

test('the gate shows the runs in which two versions differ', async () => {
  await install(app.call, await packSource(byTitle('1.0.0')));
  for (const title of ['Bug at the gate', 'Bug in a hurry', 'Wish at the gate']) await create(title);
  await app.settled();
  const before = await app.lastSequence();
  const next = await packSource(
    byTitle(
      '1.1.0',
      `if (event.data.title.includes('hurry')) return ctx.issues.update(event.data.id, { priority: 'urgent' });`,
    ),
  );
  const { kind, gate } = await backtest('plugins/com.test.by-title/gate', { package: next });
  expect([kind, gate.runs, gate.same, gate.different]).toEqual(['gate', 3, 2, 1]);
  expect(gate.differences[0].fields).toMatchObject([{ field: 'priority', old: 'high', new: 'urgent' }]);

  const { report } = await backtest('plugins/com.test.by-title/backtests', {});
  const [priority] = report.fields;
  expect(priority).toMatchObject({ field: 'priority', thenSame: 2, thenOther: 0 });
  await app.settled();
  expect(await app.lastSequence()).toBe(before);
});

test('two backtests run at once, the command line shows the backtests before a waiting third, and an interrupt cancels the third', async () => {
  const source = `{
    id: 'com.test.busy', version: '1.0.0', engines: { tatami: '*' }, limits: { cpuMs: 1000 },
    scopes: { 'issues:read': { why: 'test' } }, on: { 'issue.created': { handle: () => { for (;;); } } },
  }`;
  const busy: string[] = [];
  for (let i = 0; i < 2; i++)
    busy.push((await app.call('POST', '/api/v1/backtests', { package: await packSource(source) })).json.id);
  const statuses = (): Promise<string[]> =>
    Promise.all(busy.map(async (id) => (await app.call('GET', `/api/v1/backtests/${id}`)).json.status));
  while ((await statuses()).includes('queued')) await Bun.sleep(20);
  expect(await statuses()).toEqual(['running', 'running']);

  const dir = mkdtempSync(join(tmpdir(), 'tatami-backtest-'));
  try {
    const file = join(dir, 'next.json');
    writeFileSync(file, JSON.stringify(await packSource(byTitle('1.1.5'))));
    const child = spawnTatami(['plugins', 'install', file, '--yes', '--gate'], {
      TATAMI_SERVER: app.url,
      TATAMI_TOKEN: app.workspace.apiKey,
    });
    let reported = '';
    const waits = Promise.withResolvers<void>();
    const reading = (async () => {
      for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream()))
        if ((reported += chunk).includes('is queued behind')) waits.resolve();
      waits.resolve();
    })();
    await waits.promise;
    child.kill('SIGINT');
    expect(await child.exited).toBe(130);
    await reading;
    expect(reported).toMatch(
      new RegExp(`is queued behind ${busy[0]} of com.test.busy 1.0.0 \\(.+\\), ${busy[1]} of`),
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  const [gate] = (await app.call('GET', '/api/v1/backtests?limit=1')).json.data;
  expect(gate).toMatchObject({ kind: 'gate', pluginVersion: '1.1.5', status: 'canceled' });
  expect((await app.call('GET', '/api/v1/plugins/com.test.by-title')).json.pluginVersion).toBe('1.0.0');
  for (const id of busy) await app.call('POST', `/api/v1/backtests/${id}/cancel`);
  await app.settled();
});

test('the command line backtests a folder and shows the report, and shows the gate before an upgrade', async () => {
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const dir = mkdtempSync(join(tmpdir(), 'tatami-backtest-'));
  try {
    const source = `import { definePlugin } from '@tatami/sdk/plugin';\nexport default definePlugin(${byTitle('1.2.0', "if (event.data.title === 'Bug in a hurry') return;")});\n`;
    writeFileSync(join(dir, 'plugin.ts'), source);
    const since = ['--since', '2026-11-20T00:00:00Z'];
    const { code, out } = await tatami(['plugins', 'backtest', dir, ...since], remote);
    expect([code, out]).toEqual([0, expect.stringMatching(/\npriority +7 +3 +1 +3 +75% +1 +0\n/)]);
    expect(out).toContain('priority: "none" → "high"   people: opposite, "low"');
    const asJson = await tatami(['plugins', 'backtest', 'com.test.by-title', '--json', ...since], remote);
    expect(asJson.json.report.fields[0]).toMatchObject({ field: 'priority', wouldChange: 8, thenSame: 2 });

    const file = join(dir, 'by-title.json');
    expect((await tatami(['plugins', 'pack', dir, '--out', file], remote)).code).toBe(0);
    const upgrade = await tatami(['plugins', 'install', file, '--yes', '--gate', '2'], remote);
    expect(upgrade.code).toBe(0);
    expect(upgrade.err).toContain('on the last 2 runs of 1.0.0: 1 same, 1 different');
    expect(upgrade.err).toMatch(/issue iss_\S+ priority: "high" → nothing/);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
