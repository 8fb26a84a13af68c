// Decisions about an installed plugin on the command line: undo, proposals, routes, one-time runs, the trail of an
// issue, trust, and the comparison of versions. All tests share one real server.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { startApp, type Json, type TestApp } from '../app.ts';
import { allTrackerScopes, install, packSource } from '../features/plugins/pack.ts';
import { tatami, temporary, type CliResult } from './tatami.ts';

const dir = temporary();
let app: TestApp;
const run = (...args: string[]): Promise<CliResult> =>
  tatami(args, { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey });
const asJson = (...args: string[]): Promise<CliResult> => run(...args, '--json');
const createIssue = async (title: string): Promise<Json> => {
  const { json } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title });
  await app.settled();
  return json;
};
const readIssue = async (id: string): Promise<Json> => (await app.call('GET', `/api/v1/issues/${id}`)).json;
const newestRun = async (plugin: string): Promise<Json> =>
  (await app.call('GET', `/api/v1/plugins/${plugin}/runs`)).json.data[0];

const triage = (id: string, words: string): string => `{
  id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
  on: { 'issue.created': { filter: { title: { contains: '${words}' } }, handle: async (event, ctx) => {
    await ctx.issues.update(event.data.id, { priority: 'high' });
    await ctx.comments.create(event.data.id, { body: 'triaged' });
  } } },
  routes: {
    hook: { method: 'POST', auth: 'hmac', handle: () => ({ status: 204 }) },
    open: { method: 'GET', auth: 'public', handle: () => ({ status: 204 }) },
  },
  actions: { ask: { target: 'none', handle: async (_, ctx) => {
    await ctx.schedule.once('remind', ctx.now() + 60_000, { of: 'tea' });
    await ctx.schedule.once('remind:later', ctx.now() + 120_000);
  } } },
  schedules: { remind: { handle: () => {} } },
}`;

beforeAll(async () => {
  app = await startApp();
  await install(app.call, await packSource(triage('triage', 'Undo')));
});
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

test('an undo is previewed, reports skipped changes, and can be undone itself', async () => {
  const issue = await createIssue('Undo me');
  const { id } = await newestRun('triage');
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, { title: 'Undo me not' });
  const from = await app.lastSequence();
  const tried = await run('runs', 'undo', id, '--dry-run');
  expect(tried.code).toBe(0);
  expect(tried.out).toMatch(/^2 objects would be reverted/);
  expect(tried.out).toContain(`  issue ${issue.identifier}  priority: "high" → "none"\n`);
  expect(tried.out).toMatch(new RegExp(`remove comment cmt_\\w+ on ${issue.identifier}`));
  expect(await app.eventTypes(from)).toEqual([]);

  const done = await asJson('runs', 'undo', id);
  expect([done.code, done.json]).toMatchObject([0, { undid: [id], skipped: [] }]);
  await app.settled();
  expect(await app.eventTypes(from)).toEqual(['comment.deleted', 'issue.updated', 'automation.undone']);
  expect((await readIssue(issue.id)).priority).toBe('none');

  const again = await run('undos', 'undo', done.json.id);
  expect([again.code, again.out]).toMatchObject([0, expect.stringContaining('tatami undos undo und_')]);
  expect((await readIssue(issue.id)).priority).toBe('high');
});

test('an undo by time range applies to a plugin, and lists later changes by others', async () => {
  const issue = await createIssue('Undo this as well');
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, { priority: 'low' });
  const since = new Date(app.clock.nowMs() - 60_000).toISOString();
  const tried = await run('plugins', 'undo', 'triage', '--since', since, '--dry-run');
  expect(tried.code).toBe(0);
  expect(tried.out).toContain(
    `skipped:\n  issue ${issue.identifier}  priority: was set to "high", is "low"  (changed by First key)`,
  );
  const answers = await Promise.all([
    asJson('plugins', 'undo', 'triage'),
    asJson('runs', 'undo', 'run_01m7wd7tg0m9eyzxz43fzy5v7m'),
    asJson('plugins', 'undo', 'triag', '--since', '2h'),
  ]);
  expect(answers.map(({ code, json }) => [code, json.error.message])).toEqual([
    [2, expect.stringContaining('--since is required')],
    [1, expect.stringContaining('tatami plugins runs PLUGIN')],
    [1, expect.stringContaining('Did you mean triage?')],
  ]);
});

test('a plugin on probation is listed as such, with the missing approvals and the commands that end it', async () => {
  await install(app.call, await packSource(triage('careful', 'Propose')), { probation: true });
  await createIssue('Propose something');
  const listed = await run('plugins', 'list');
  expect(listed.out).toMatch(/careful +1\.0\.0 +propose +probation: 20 approvals left/);
  expect(listed.out).toMatch(/triage +1\.0\.0 +apply +active/);
  expect(listed.out).toContain('`tatami plugins update NAME --no-probation`');
  const one = await run('plugins', 'show', 'careful');
  expect([one.code, one.out]).toMatchObject([
    0,
    expect.stringContaining('state  probation: 20 approvals left'),
  ]);
  expect(one.out).toContain('until people have approved 20 more runs');
  expect(one.out).toContain('mode   propose until the probation ends, then apply');

  await install(app.call, await packSource(triage('trusted', 'Nothing like it')), { probation: true });
  const ended = await run('plugins', 'update', 'trusted', '--no-probation');
  expect([ended.code, ended.out]).toEqual([0, expect.stringContaining('state  active\nmode   apply\n')]);
  expect((await app.call('GET', '/api/v1/plugins/trusted')).json.state).toBe('active');
});

test('a run that cannot be undone or replayed is answered with the reason of the server', async () => {
  await install(
    app.call,
    await packSource(`{
      id: 'unready', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
      on: { 'issue.created': { filter: { title: 'Unready' }, handle: () => { throw new Error('not yet'); } } },
    }`),
  );
  const issue = await createIssue('Unready');
  const { id, status } = await newestRun('unready');
  expect(status).toBe('retrying');
  const logged = await run('plugins', 'logs', 'unready', '--status', 'retrying');
  expect([logged.code, logged.out]).toEqual([0, expect.stringContaining(`${id}  issue.created  retrying`)]);
  expect((await run('plugins', 'logs', 'unready', '--status', 'dead')).out).toBe('Nothing found.\n');
  const odd = await asJson('plugins', 'logs', 'unready', '--status', 'failed');
  expect([odd.code, odd.json.error.message]).toEqual([
    2,
    expect.stringContaining('succeeded, dead, canceled'),
  ]);
  const said = async (...args: string[]): Promise<[number, string]> => {
    const { code, json } = await asJson('runs', ...args);
    return [code, json.error.message];
  };
  const nothing = `${id} cannot be undone: it changed nothing, or its changes are older than the retention period. Revert them by hand.`;
  expect(await said('undo', id)).toEqual([1, nothing]);
  // Every attempt is recorded, so that a run can be replayed before it ends.
  expect((await run('runs', 'replay', id)).out).toContain('identical');
  expect((await run('runs', 'cancel', id)).code).toBe(0);
  await app.call('DELETE', `/api/v1/issues/${issue.id}`);
  expect((await app.call('POST', `/api/v1/issues/${issue.id}/purge`)).status).toBe(204);
  const none = expect.stringContaining(`${id} has no recording:`);
  expect(await said('replay', id)).toEqual([1, none]);
  expect((await app.call('GET', `/api/v1/runs/${id}/recording`)).json.error).toMatchObject({
    code: 'not_found',
    message: none,
  });
  const unknown = 'run_01m7wd7tg0m9eyzxz43fzy5v7m';
  expect(await said('replay', unknown)).toEqual([1, expect.stringContaining(`There is no run ${unknown}`)]);
});

test('proposals are listed, shown field by field, approved in part and rejected with a reason', async () => {
  const [first] = (await asJson('proposals', 'list', '--status', 'open')).json;
  const seen = await run('proposals', 'show', first.id);
  expect(seen.out).toMatch(/priority: "none" → "high"/);
  const part = await asJson('proposals', 'approve', first.id, '--effects', '1');
  expect([part.code, part.json]).toMatchObject([0, { status: 'partly_approved' }]);
  const issue = await createIssue('Propose something else');
  const [second] = (await asJson('proposals', 'list', '--status', 'open')).json;
  const unsaid = await asJson('proposals', 'reject', second.id);
  expect([unsaid.code, unsaid.json.error.message]).toEqual([2, expect.stringContaining('--reason')]);
  const rejected = await run('proposals', 'reject', second.id, '--reason', 'Not urgent.');
  expect([rejected.code, rejected.out]).toMatchObject([0, expect.stringContaining('Reason: Not urgent.')]);
  expect((await readIssue(issue.id)).priority).toBe('none');
  const undone = await asJson('proposals', 'undo', first.id);
  expect(undone.json).toMatchObject({ undid: [first.id], changes: [{ action: 'update' }] });
  const unknown = await asJson('proposals', 'show', 'prp_01m7wd7tg0m9eyzxz43fzy5v7m');
  expect(unknown.json.error.message).toContain('tatami proposals list');
});

test('a route is opened, its secret is replaced only if confirmed and is printed only then, and it is closed', async () => {
  const opened = await run('plugins', 'open-route', 'triage', 'hook', '--yes');
  const [, secret = ''] = /^secret +(whsec_\S+)$/m.exec(opened.out) ?? [];
  expect([opened.code, secret.length > 20, opened.err]).toEqual([
    0,
    true,
    expect.stringContaining('shown only once'),
  ]);
  const listed = await run('plugins', 'routes', 'triage');
  expect(listed.out).toMatch(/^hook +POST +hmac +http\S+\/hook\nopen +GET +public +-$/m);
  expect(listed.out).not.toContain(secret);

  const again = await asJson('plugins', 'open-route', 'triage', 'hook');
  expect([again.code, again.json.error.message]).toEqual([2, expect.stringContaining('--yes')]);
  const rotated = (await asJson('plugins', 'open-route', 'triage', 'hook', '--yes')).json;
  expect([listed.out.includes(rotated.url), rotated.secret === secret]).toEqual([true, false]);

  expect((await run('plugins', 'close-route', 'triage', 'hook')).code).toBe(0);
  const closed = await asJson('plugins', 'close-route', 'triage', 'hook');
  expect([closed.code, closed.json.error.message]).toEqual([1, expect.stringContaining('is already closed')]);
  const unknown = await asJson('plugins', 'open-route', 'triage', 'hok', '--yes');
  expect([unknown.code, unknown.json.error]).toMatchObject([
    1,
    { code: 'not_found', message: expect.stringContaining('Did you mean hook?') },
  ]);
});

test('pending one-time jobs are listed, and a canceled one is removed', async () => {
  expect((await run('plugins', 'action', 'triage', 'ask')).code).toBe(0);
  const listed = await run('plugins', 'scheduled', 'triage');
  expect(listed.out).toMatch(
    /^remind +2026-11-20 12:01Z +\{"of":"tea"\} +yes\nremind:later +2026-11-20 12:02Z +- +yes$/m,
  );
  expect((await run('plugins', 'unschedule', 'triage', 'remind')).code).toBe(0);
  expect((await asJson('plugins', 'scheduled', 'triage')).json).toMatchObject([{ name: 'remind:later' }]);
  const gone = await asJson('plugins', 'unschedule', 'triage', 'remind');
  expect([gone.code, gone.json.error]).toMatchObject([
    1,
    {
      code: 'not_found',
      message: 'triage has no pending one-time job remind. Use a name that the list of jobs returns.',
    },
  ]);
});

test('an error names the missing part of an existing plugin, or else the missing plugin', async () => {
  const { id } = (await app.call('GET', '/api/v1/plugins/triage')).json;
  const said = async (...args: string[]): Promise<string> =>
    (await asJson('plugins', ...args)).json.error.message;
  expect(await said('shadow', 'triage')).toBe('triage has no shadow. Start one first.');
  expect(await said('shadow', 'triage', '--stop')).toBe('triage has no shadow. Start one first.');
  expect(await said('secrets', 'delete', 'triage', 'KEY_A', '--yes')).toBe(
    'The secret KEY_A is not set. Set it first.',
  );
  expect(await said('secrets', 'delete', 'triag', 'KEY_A', '--yes')).toContain('There is no plugin triag.');
  const none = [
    ['DELETE', 'shadow', 'triage has no shadow. Start one first.'],
    ['DELETE', 'secrets/KEY_A', 'The secret KEY_A is not set. Set it first.'],
    [
      'DELETE',
      'routes/open',
      'The route open of triage is already closed. Open it again to receive requests.',
    ],
    [
      'DELETE',
      'scheduled/remind',
      'triage has no pending one-time job remind. Use a name that the list of jobs returns.',
    ],
    ['GET', 'kv/seen', 'triage has no value for the key seen. Use a key that the list of keys returns.'],
    ['DELETE', 'kv/seen', 'triage has no value for the key seen. Use a key that the list of keys returns.'],
  ] as const;
  for (const [method, part, message] of none) {
    const { status, json } = await app.call(method, `/api/v1/plugins/${id}/${part}`);
    expect([part, status, json.error.message]).toEqual([part, 404, message]);
  }
});

test('the trail of an issue is a tree of causes and effects', async () => {
  const issue = await createIssue('Undo nothing');
  const trail = await run('issues', 'trail', issue.identifier);
  expect(trail.code).toBe(0);
  expect(trail.out.replaceAll(/run_\w+/g, 'run_…').replaceAll(/\d+ ms/g, '4 ms')).toBe(
    [
      '2026-11-20 12:00:00  issue.created by Acme owner',
      '  ⤷ triage 1.0.0 succeeded (run_…): 4 ms, 1 × issues.update, 1 × comments.create',
      '    2026-11-20 12:00:00  issue.updated by triage  priority: "none" → "high"',
      '    2026-11-20 12:00:00  comment.added by triage',
      '',
    ].join('\n'),
  );
  const [unknown, wrong] = await Promise.all([
    asJson('issues', 'trail', 'ENG-9999'),
    asJson('issues', 'trail', issue.identifier, '--limit', '0'),
  ]);
  expect([unknown.code, unknown.json.error.message]).toEqual([
    1,
    expect.stringContaining('There is no issue ENG-9999.'),
  ]);
  expect([wrong.code, wrong.json.error.message]).toEqual([2, expect.stringContaining('--limit')]);
});

test('the gate of an upgrade shows only the differences of the other version', async () => {
  const later = async (id: string, edit: (source: string) => string): Promise<string> => {
    const file = dir.path(`${id}.json`);
    const source = edit(triage(id, 'Undo').replace('1.0.0', '1.1.0'));
    writeFileSync(file, JSON.stringify(await packSource(source)));
    return file;
  };
  const file = await later('triage', (source) =>
    source.replace('high', 'urgent').replace("'triaged'", "'seen'"),
  );
  const gated = await run('plugins', 'install', file, '--gate', '1', '--yes');
  expect(gated.code).toBe(0);
  expect(gated.err).toContain('triage 1.1.0 on the last run of 1.0.0: 0 same, 1 different\n');
  expect(gated.err).toMatch(
    /\n {4}issue iss_\w+ priority: "high" → "urgent"\n {4}comment new 1 body: "triaged" → "seen"\n/,
  );
  expect(gated.err).not.toMatch(/author|0 of 0/);

  // A version without writes: the writes of the other one are listed separately.
  const silent = await later('triage', (source) =>
    source
      .replace('1.1.0', '1.2.0')
      .replace('high', 'urgent')
      .replace(/await ctx.comments[^;]+;/, ''),
  );
  const less = await run('plugins', 'install', silent, '--gate', '1', '--yes');
  expect(less.err).toMatch(/\n {4}only 1\.1\.0 creates a comment on ENG-\d+: body "seen"\n/);

  await install(app.call, await packSource(triage('idle', 'Nothing like it')));
  const nothing = await run('plugins', 'install', await later('idle', (source) => source), '--gate', '--yes');
  expect(nothing.err).toContain('idle 1.1.0: 1.0.0 has no event runs to compare with.\n');
});
