// Decisions on proposals and on the state of plugins.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from '../../features/plugins/pack.ts';
import { tatami, type CliResult } from '../tatami.ts';

let app: TestApp;
/** Key of a second administrator, because nobody approves a proposal of their own. */
let approver: string;
const by = (token: string, args: string[]): Promise<CliResult> =>
  tatami(args, { TATAMI_SERVER: app.url, TATAMI_TOKEN: token });
const run = (...args: string[]): Promise<CliResult> => by(app.workspace.apiKey, args);
const decide = (...args: string[]): Promise<CliResult> => by(approver, ['proposals', 'approve', ...args]);

beforeAll(async () => {
  app = await startApp();
  const ada = { name: 'Ada', email: 'ada@example.com', role: 'admin' };
  const { json: member } = await app.call('POST', '/api/v1/members', ada);
  const scopes = ['issues:write', 'comments:write', 'approvals:write', 'proposals:read', 'plugins:read'];
  const { json } = await app.call('POST', '/api/v1/api-keys', { name: 'ada', memberId: member.id, scopes });
  approver = json.key;
});
afterAll(() => app.stop());

const createIssue = async (title: string): Promise<Json> =>
  (await app.call('POST', '/api/v1/issues', { team: 'ENG', title })).json;
const readIssue = async ({ id }: Json): Promise<Json> => (await app.call('GET', `/api/v1/issues/${id}`)).json;
const propose = async ({ id }: Json, patch: object): Promise<Json> =>
  (await app.call('PATCH', `/api/v1/issues/${id}`, patch, { 'tatami-mode': 'propose' })).json;
const openIds = async (): Promise<string[]> =>
  (await app.call('GET', '/api/v1/proposals?status=open')).json.data.map(({ id }: Json) => id);

describe('proposals approve --all', () => {
  /** Ids of three proposals, oldest first. The second one does not fit its issue any more. */
  let ids: string[];
  let issues: Json[];
  beforeEach(async () => {
    for (const id of await openIds())
      await app.call('POST', `/api/v1/proposals/${id}/reject`, { reason: 'Another test.' });
    issues = [await createIssue('One'), await createIssue('Two'), await createIssue('Three')];
    ids = [];
    for (const issue of issues) ids.push((await propose(issue, { priority: 'high' })).id);
    await app.call('PATCH', `/api/v1/issues/${issues[1]!.id}`, { priority: 'low' });
  });
  const priorities = async (): Promise<string[]> =>
    (await Promise.all(issues.map(readIssue))).map(({ priority }) => priority);

  test('needs --yes without a terminal, and shows what it would approve', async () => {
    const { code, out, err } = await decide('--all');
    expect([code, out, err]).toEqual([2, '', expect.stringContaining('Add --yes')]);
    for (const id of ids) expect(err).toContain(id);
    expect(await priorities()).toEqual(['none', 'low', 'none']);
  });

  test('approves the oldest first, goes on after one that fails, and reports each', async () => {
    const { code, json } = await decide('--all', '--yes', '--json');
    expect([code, json]).toEqual([
      1,
      [
        { id: ids[0], title: expect.any(String), status: 'approved', error: null },
        {
          id: ids[1],
          title: expect.any(String),
          status: 'open',
          error: expect.stringContaining('revision 2'),
        },
        { id: ids[2], title: expect.any(String), status: 'approved', error: null },
      ],
    ]);
    expect(await priorities()).toEqual(['high', 'low', 'high']);
    // The new revision is approved next.
    const again = await decide('--all', '--yes');
    expect([again.code, again.out]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^${ids[1]}  approved  .*\n$`)),
    ]);
    expect(await priorities()).toEqual(['high', 'high', 'high']);
    const none = await decide('--all', '--yes');
    expect([none.code, none.out]).toEqual([0, 'No proposals are open.\n']);
    expect((await decide('--all', '--json')).json).toEqual([]);
  });

  test('reports the proposals that were approved before the key was revoked', async () => {
    let approvals = 0;
    // Passes requests on until the second approval.
    await using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        if (request.method === 'POST' && ++approvals > 1) {
          const error = { code: 'unauthorized', message: 'The key was revoked.' };
          return Response.json({ error }, { status: 401 });
        }
        const { pathname, search } = new URL(request.url);
        const { method, headers } = request;
        const body = method === 'POST' ? await request.text() : null;
        const response = await fetch(app.url + pathname + search, { method, headers, body });
        return new Response(await response.text(), { status: response.status });
      },
    });
    const args = [
      'proposals',
      'approve',
      '--all',
      '--yes',
      '--json',
      '--server',
      `http://127.0.0.1:${server.port}`,
    ];
    const { code, json } = await tatami(args, { TATAMI_TOKEN: approver });
    expect([code, json]).toMatchObject([
      4,
      [
        { id: ids[0], status: 'approved', error: null },
        { id: ids[1], error: expect.stringContaining('The key was revoked.') },
      ],
    ]);
    expect(await priorities()).toEqual(['high', 'low', 'none']);
  });

  test('approves only the proposals of a plugin with --install', async () => {
    await install(
      app.call,
      await packSource(`{
        id: 'careful', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:write': { why: 'sets' } },
        on: { 'issue.created': { filter: { title: 'Four' }, handle: async ({ data }, { issues }) => {
          await issues.update(data.id, { priority: 'urgent' });
        } } },
      }`),
      { probation: true },
    );
    const issue = await createIssue('Four');
    await app.settled();
    expect(await openIds()).toHaveLength(4);
    const { code, json } = await decide('--all', '--install', 'careful', '--yes', '--json');
    expect([code, json]).toMatchObject([0, [{ status: 'approved' }]]);
    expect((await readIssue(issue)).priority).toBe('urgent');
    expect((await openIds()).toSorted()).toEqual(ids.toSorted());
    const unknown = await decide('--all', '--install', 'carefil', '--yes');
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('Did you mean careful?')]);
  });

  test.each([
    ['a proposal', ['prp_01m7wd7tg0m9eyzxz43fzy5v7m', '--all'], '--all approves every open proposal'],
    ['effects', ['--all', '--effects', '1'], '--all approves every open proposal'],
    ['neither', [], 'Name a proposal'],
    ['a plugin without --all', ['prp_01m7wd7tg0m9eyzxz43fzy5v7m', '--install', 'x'], '--install needs --all'],
  ])('is a usage error with %s', async (_, args, message) => {
    const { code, err } = await decide(...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(await openIds()).toHaveLength(3);
  });
});

describe('a plugin', () => {
  const runs = async (): Promise<number> =>
    (await app.call('GET', '/api/v1/plugins/counter/runs')).json.data.length;
  const state = async (): Promise<string> => (await app.call('GET', '/api/v1/plugins/counter')).json.state;
  beforeAll(async () => {
    await install(
      app.call,
      await packSource(`{
        id: 'counter', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'counts' } },
        on: { 'issue.created': { filter: { title: 'Counted' }, handle: () => {} } },
      }`),
    );
  });

  test('runs on no event while it is disabled, and on the missed ones once they are backfilled', async () => {
    const disabled = await run('plugins', 'disable', 'counter', '--json');
    expect([disabled.code, disabled.json.state]).toEqual([0, 'paused_by_admin']);
    await createIssue('Counted');
    await app.settled();
    expect([await state(), await runs()]).toEqual(['paused_by_admin', 0]);
    const enabled = await run('plugins', 'enable', 'counter');
    expect([enabled.code, enabled.out]).toEqual([0, expect.stringContaining('state  active')]);
    expect((await run('plugins', 'catch-up', 'counter')).code).toBe(0);
    expect([await state(), await runs()]).toEqual(['active', 1]);
  });

  test('is uninstalled only after a confirmation', async () => {
    const refused = await run('plugins', 'uninstall', 'counter');
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('Add --yes')]);
    const tried = await run('plugins', 'uninstall', 'counter', '--dry-run');
    expect([tried.code, await state()]).toEqual([0, 'active']);
    const done = await run('plugins', 'uninstall', 'counter', '--yes', '--json');
    expect([done.code, done.json]).toMatchObject([0, { done: true, operation: 'plugins.delete' }]);
    const gone = await run('plugins', 'enable', 'counter');
    expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('There is no plugin counter')]);
  });
});

test('a command that cannot wait for what it started says that it started it', async () => {
  await install(
    app.call,
    await packSource(`{ id: 'actor', version: '1.0.0', engines: { tatami: '*' },
      actions: { greet: { title: 'Greet', target: 'none', handle: () => 'hello' } } }`),
  );
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method, headers } = request;
      if (method === 'GET')
        return Response.json({ error: { code: 'forbidden', message: 'Not for you.' } }, { status: 403 });
      const { pathname } = new URL(request.url);
      const body = await request.text();
      const response = await fetch(app.url + pathname, { method, headers, body });
      return new Response(await response.text(), { status: response.status });
    },
  });
  const args = ['plugins', 'action', 'actor', 'greet', '--server', `http://127.0.0.1:${server.port}`];
  const { code, err } = await tatami(args, { TATAMI_TOKEN: app.workspace.apiKey });
  expect([code, err]).toEqual([1, expect.stringMatching(/^The request succeeded as run_\w+;/m)]);
  expect(err).toContain('Not for you.');
});
