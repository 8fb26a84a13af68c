// Proposals and runs describe their writes: the object, its changes, and the outcome of each effect.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
let propose: (method: string, path: string, body?: object) => Promise<Json>;
beforeAll(async () => {
  app = await startApp();
  await create('/teams', { key: 'OPS' });
  await create('/labels', { name: 'late' });
  const by: Client = app.call;
  propose = async (method, path, body) =>
    (await by(method, `/api/v1${path}`, body, { 'tatami-mode': 'propose' })).json;
});
afterAll(() => app.stop());

const create = async (path: string, body: object): Promise<Json> => {
  const { status, json } = await app.call('POST', `/api/v1${path}`, body);
  expect([path, status < 300]).toEqual([path, true]);
  return json;
};
const createIssue = (title: string, more: object = {}): Promise<Json> =>
  create('/issues', { team: 'ENG', title, ...more });
const fieldsOf = ({ effects }: Json): string[] =>
  (effects?.[0].fields ?? []).map(({ name }: Json) => name).toSorted();
const whole = async ({ id }: Json): Promise<Json> => (await app.call('GET', `/api/v1/proposals/${id}`)).json;

test('the title and the effect name the object, and the diff is that of the object itself', async () => {
  const [one, two] = [await createIssue('one'), await createIssue('two')];
  const related = await create(`/issues/${one.id}/relations`, { type: 'blocks', issueId: two.id });
  const member = await create('/members', { name: 'Ada' });
  const { id: project } = await create('/projects', { name: 'Launch' });
  const reaction = await create(`/issues/${one.id}/reactions`, { emoji: '👀' });
  const link = await create(`/issues/${one.id}/attachments`, {
    title: 'Trace',
    url: 'https://traces.example/1',
  });
  const blocks = `${one.identifier} blocks ${two.identifier}`;
  const cases: [Json, string, string[]][] = [
    [await propose('DELETE', `/relations/${related.id}`), `Delete relation ${blocks}`, ['issue', 'type']],
    [
      await propose('POST', `/issues/${one.id}/move`, { team: 'OPS' }),
      `Update issue ${one.identifier}: state, team`,
      ['state', 'team'],
    ],
    [await propose('PATCH', `/members/${member.id}`, { role: 'guest' }), 'Update member Ada: role', ['role']],
    [
      await propose('PATCH', `/projects/${project}`, { status: 'started' }),
      'Update project Launch: status',
      ['status'],
    ],
    [
      await propose('DELETE', `/reactions/${reaction.id}`),
      `Delete reaction 👀 on ${one.identifier}`,
      ['actor', 'emoji', 'issue'],
    ],
    [
      await propose('DELETE', `/attachments/${link.id}`),
      `Delete attachment “Trace” on ${one.identifier}`,
      ['creator', 'issue', 'kind', 'title', 'url'],
    ],
    [await propose('POST', '/members', { name: 'Grace' }), 'Create member Grace', ['name', 'role']],
    [
      await propose('POST', '/issues', { team: 'ENG', title: 'Later', parentId: one.id }),
      'Create issue “Later”',
      ['creator', 'parent', 'priority', 'state', 'team', 'title'],
    ],
  ];
  for (const [proposal, title, fields] of cases)
    expect([title, proposal.title ?? proposal, fieldsOf(await whole(proposal))]).toEqual([
      title,
      title,
      fields,
    ]);
  const [deletion, move] = cases.map(([proposal]) => proposal.effects[0]);
  expect([deletion.name, deletion.issue, move.name]).toEqual([blocks, one.identifier, one.identifier]);
});

test('each effect of a run with several modes has its own outcome', async () => {
  await install(
    app.call,
    await packSource(`{
      id: 'com.test.says', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
      on: { 'issue.created': { handle: async ({ data }, ctx) => {
        if (data.title !== 'mixed') return;
        await ctx.issues.update(data.id, { addLabels: ['late'] });
        await ctx.issues.update(data.id, { priority: 'high' });
        await ctx.comments.create(data.id, { body: 'Looked at.' });
        for (const { id } of (await ctx.relations.list(data.id)).data) await ctx.relations.delete(id);
        await ctx.relations.delete(data.description);
      } } },
    }`),
    { mode: 'apply', modes: { 'update.priority': 'propose', comment: 'simulate' } },
  );
  const [one, two] = [await createIssue('one'), await createIssue('two')];
  const { id: relationId } = await create(`/issues/${one.id}/relations`, { type: 'blocks', issueId: two.id });
  const { id, identifier } = await createIssue('mixed', { description: relationId });
  await app.settled();
  const [run] = (await app.call('GET', '/api/v1/plugins/com.test.says/runs?limit=1')).json.data;
  const said = run.effects.map(({ outcome, action, kind, name, fields, values }: Json) => [
    ...[outcome, action, kind, name],
    ...[fields, values && Object.keys(values).toSorted()],
  ]);
  expect(said).toEqual([
    ['applied', 'update', 'issue', null, ['labels'], null],
    ['proposed', 'update', 'issue', identifier, ['priority'], ['priority']],
    [
      'proposed',
      'delete',
      'relation',
      `${one.identifier} blocks ${two.identifier}`,
      ['deletedAt'],
      ['issue', 'type'],
    ],
    ['simulated', 'create', 'comment', null, [], ['author', 'body', 'issue']],
  ]);
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const { out } = await tatami(['plugins', 'logs', 'com.test.says', '--limit', '1'], remote);
  expect(out).toContain('effects 1 (2 proposed, 1 simulated)');
  expect(out).toContain(`applied: update issue ${id} (labels)`);
  expect(out).toContain(
    `proposed as ${run.proposalId}: would update issue ${identifier}\n    priority: "none" → "high"`,
  );
  expect(out).toContain(
    `would delete relation ${one.identifier} blocks ${two.identifier}\n    type: "blocks"`,
  );
  expect(out).toMatch(/simulated: would create comment cmt_\w+\n/);
});

test('a refused call names the grant, the field or the parameter, with the name of its class', async () => {
  let nth = 0;
  const asks = async (scopes: string, call: string, grant?: string[]): Promise<string> => {
    const id = `com.test.refused${++nth}`;
    const document = await packSource(`{
      id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${scopes},
      on: { 'issue.created': { handle: ({ data }, ctx) => ${call}.then(() => ctx.log.info('done'), (e) => ctx.log.info(String(e))) } },
    }`);
    await install(app.call, document, grant ? { grant } : {});
    await createIssue('refused');
    await app.settled();
    const [run] = (await app.call('GET', `/api/v1/plugins/${id}/runs?limit=1`)).json.data;
    return run.logs[0].message;
  };
  const narrowed = `{ 'issues:read': { why: 'test', fields: ['title'] } }`;
  const both = `{ 'issues:read': { why: 'test' }, 'comments:read': { why: 'test' } }`;
  const only = 'ScopeDenied: issues:read is narrowed to the fields title;';
  expect(await asks(narrowed, `ctx.issues.list({ filter: { priority: 'high' } })`)).toBe(
    `${only} the parameter filter could reveal other fields. Ask an admin for the whole scope.`,
  );
  expect(await asks(narrowed, `ctx.issues.list({ sort: 'priority' })`)).toBe(
    `${only} this request reads the field priority. Ask an admin for the whole scope.`,
  );
  expect(await asks(narrowed, 'ctx.relations.list(data.id)')).toBe(
    `${only} relations.list returns more than fields. Ask an admin for the whole scope.`,
  );
  expect(await asks(both, 'ctx.comments.list(data.id)', ['issues:read'])).toBe(
    "ScopeDenied: This operation needs the scope comments:read, which the plugin's grant does not have. Use a token with the scope, or ask an admin to grant it.",
  );
  expect(await asks(both, `ctx.issues.get('iss_00000000000000000000000002')`)).toBe(
    'NotFound: The object does not exist, or the plugin cannot see it. Check the id and the scopes granted to the plugin.',
  );
});
