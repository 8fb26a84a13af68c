// `me` is accepted in place of every member id, and a team key in place of every team id.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { packSource } from '../plugins/pack.ts';
import { startApp, type Json, type Reply, type TestApp } from '../../app.ts';

let app: TestApp;
let me: { id: string; name: string };
let team: { id: string; key: string };

const call = (method: string, path: string, body?: object): Promise<Reply> =>
  app.call(method, `/api/v1${path}`, body);
const wrong = ({ status, json }: Reply): Json => [
  status,
  json.error?.details?.[0]?.path,
  json.error?.message,
];

beforeAll(async () => {
  app = await startApp();
  me = (await call('GET', '/me')).json.member;
  team = (await call('GET', '/teams')).json.data[0];
});
afterAll(() => app.stop());

test('bodies accept `me` for the calling member', async () => {
  const mine = { id: me.id, name: me.name };
  const issue = (await call('POST', '/issues', { team: 'ENG', title: 'Mine', assigneeId: 'me' })).json;
  expect((await call('GET', `/issues/${issue.id}`)).json.assignee).toEqual(mine);
  await call('PATCH', `/issues/${issue.id}`, { assigneeId: null });
  expect((await call('PATCH', `/issues/${issue.id}`, { assigneeId: 'me' })).json.assignee).toEqual(mine);
  const many = { issues: [{ team: 'ENG', title: 'In a list', assigneeId: 'me', creatorId: 'me' }] };
  const [one] = (await call('POST', '/issues/bulk', many)).json.data;
  expect((await call('GET', `/issues/${one.id}`)).json).toMatchObject({ assignee: mine, creator: mine });
  const bulk = await call('POST', '/issues/bulk-update', { ids: [one.id], set: { assigneeId: 'me' } });
  expect(bulk.json.data).toMatchObject([{ id: one.id, changes: {} }]);
  const project = await call('POST', '/projects', { name: 'P', leadId: 'me', members: ['me', me.id] });
  expect(project.json).toMatchObject({ lead: mine, members: [mine] });
  const template = await call('POST', '/templates', { name: 'T', assigneeId: 'me' });
  expect(template.json.assignee).toEqual(mine);
  const key = await call('POST', '/api-keys', { name: 'K', scopes: ['issues:read'], memberId: 'me' });
  expect(key.json.member).toEqual(mine);
});

test('custom fields, paths and filters accept `me`', async () => {
  await call('POST', '/fields', { key: 'reviewer', name: 'Reviewer', type: 'member' });
  const fields = { reviewer: 'me' };
  const created = (await call('POST', '/issues', { team: 'ENG', title: 'Reviewed', fields })).json;
  expect((await call('GET', `/issues/${created.id}`)).json.fields).toEqual({ reviewer: me.id });
  expect((await call('GET', '/members/me')).json).toMatchObject({ id: me.id });
  expect((await call('PATCH', '/members/me', { name: me.name })).status).toBe(200);
  const followed = await call('PUT', `/subscribers/${created.id}/me`);
  expect(followed.json.member).toMatchObject({ id: me.id });
  const filter = encodeURIComponent(JSON.stringify({ 'fields.reviewer': 'me' }));
  expect((await call('GET', `/issues?filter=${filter}`)).json.data).toMatchObject([{ id: created.id }]);
  expect((await call('GET', '/projects?lead=me')).json.data).toHaveLength(1);
});

test('`me` is refused for a plugin, because it is not a member', async () => {
  const source = `{ id: 'com.test.nobody', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:write': { why: 'test' } },
    on: { 'issue.updated': { async handle(event, ctx) {
      const said = await ctx.issues.update(event.data.id, { assigneeId: 'me' }).catch(({ code, message }) => code + ' ' + message);
      await ctx.issues.update(event.data.id, { description: String(said) });
    } } } }`;
  const created = (await call('POST', '/issues', { team: 'ENG', title: 'Of nobody' })).json;
  const plugin = await call('POST', '/plugins', {
    package: await packSource(source),
    grant: ['issues:write'],
    probation: false,
  });
  await call('PATCH', `/issues/${created.id}`, { priority: 'urgent' });
  await app.settled();
  const { assignee, description } = (await call('GET', `/issues/${created.id}`)).json;
  expect(assignee).toBeNull();
  expect(description).toBe(
    'validation_failed assigneeId: The caller is not a member. Give the id of a member.',
  );
  await call('DELETE', `/plugins/${plugin.json.id}`);
});

test('only the exact text `me` in a member field stands for the caller', async () => {
  for (const assigneeId of ['ME', 'you', ' me', ''])
    expect([
      assigneeId,
      (await call('POST', '/issues', { team: 'ENG', title: 'T', assigneeId })).status,
    ]).toEqual([assigneeId, 422]);
  const titled = (await call('POST', '/issues', { team: 'ENG', title: 'me' })).json;
  expect(titled.title).toBe('me');
});

test('a team is named by its key in any case or by its id, in paths, bodies and parameters', async () => {
  for (const name of ['ENG', 'eng', team.id]) {
    expect((await call('GET', `/teams/${name}`)).json).toMatchObject({ id: team.id, key: 'ENG' });
    const patched = await call('PATCH', `/teams/${name}`, { name: `Called ${name}` });
    expect(patched.json).toMatchObject({ id: team.id, name: `Called ${name}` });
    for (const teamField of ['team', 'teamKey', 'teamId']) {
      const issue = await call('POST', '/issues', { [teamField]: name, title: 'T' });
      expect(issue.json.identifier).toStartWith('ENG-');
    }
    expect((await call('GET', `/issues?team=${name}&limit=1`)).json.data).toHaveLength(1);
  }
  const bodies: readonly [string, object][] = [
    ['labels', { name: 'of one', color: '#112233' }],
    ['boards', { name: 'Of one' }],
    ['templates', { name: 'Of one' }],
    ['pipelines', { name: 'Of one', type: 'scheduled', stages: ['planned', 'out'] }],
    ['fields', { key: 'one', name: 'Of one', type: 'text' }],
    ['workflows', { name: 'Of one', type: 'started', position: 9 }],
    ['cycles', { startsAt: '2031-03-03T00:00:00Z', endsAt: '2031-03-17T00:00:00Z' }],
  ];
  for (const [path, body] of bodies) {
    const created = await call('POST', `/${path}`, { ...body, team: team.id });
    expect([path, created.status, created.json.team]).toEqual([path, 201, 'ENG']);
    const listed = async (name: string): Promise<string[]> =>
      (await call('GET', `/${path}?team=${name}`)).json.data.map(({ id }: Json) => id);
    expect([path, await listed(team.id)]).toEqual([path, await listed('ENG')]);
    expect([path, (await listed('eng')).includes(created.json.id)]).toEqual([path, true]);
  }
});

test('a missing team is refused by key and by id', async () => {
  const noId = team.id.replace(/^./, (first) => (first === '0' ? '1' : '0'));
  for (const [name, why] of [
    ['NONE', 'There is no such team. Use one of ENG, or an id.'],
    [noId, `There is no team ${noId}. Name an existing team.`],
  ]) {
    expect((await call('GET', `/teams/${name}`)).status).toBe(404);
    expect(wrong(await call('POST', '/boards', { name: 'B', team: name }))).toEqual([
      422,
      'team',
      `team: ${why}`,
    ]);
    expect((await call('GET', `/boards?team=${name}`)).status).toBe(422);
  }
});
