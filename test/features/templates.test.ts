import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await app.call('POST', '/api/v1/teams', { key: 'OPS' });
});
afterAll(() => app.stop());

const post = (path: string, body: object, headers = {}): Promise<Reply> =>
  app.call('POST', `/api/v1${path}`, body, headers);
const template = async (more: object = {}): Promise<Json> =>
  (await post('/templates', { name: 'Bug report', ...more })).json;
const create = async (more: object): Promise<Json> => {
  const created = await post('/issues', { team: 'ENG', title: 'From a template', ...more });
  expect(created.json.error).toBeUndefined();
  return (await app.call('GET', `/api/v1/issues/${created.json.id}`)).json;
};

test('an issue starts with the values of its template, and the request body takes precedence', async () => {
  const member = (await post('/members', { name: 'Mira' })).json;
  const project = (await post('/projects', { name: 'Stability' })).json;
  const from = await app.lastSequence();
  const created = await template({
    team: 'ENG',
    title: 'Something broke',
    description: '## Steps',
    priority: 'high',
    assigneeId: member.id,
    projectId: project.id,
    labels: ['BUG'],
    estimate: 3,
  });
  expect(created.id).toStartWith('tpl_');
  expect(created).toMatchObject({
    team: 'ENG',
    assignee: { id: member.id, name: 'Mira' },
    labels: [{ name: 'bug' }],
    subIssues: [],
  });
  expect(await app.eventTypes(from)).toEqual(['template.created']);
  expect(await create({ templateId: created.id })).toMatchObject({
    title: 'From a template',
    description: '## Steps',
    priority: 'high',
    assignee: { id: member.id },
    project: { id: project.id },
    labels: [{ name: 'bug' }],
    estimate: 3,
  });
  const own = {
    templateId: created.id,
    priority: 'none',
    labels: [],
    assigneeId: null,
    description: 'Mine.',
  };
  expect(await create(own)).toMatchObject({
    description: 'Mine.',
    priority: 'none',
    assignee: null,
    labels: [],
    estimate: 3,
  });
});

test('sub-issues are created in template order in one change set, also in bulk', async () => {
  const { id: templateId } = await template({ subIssues: ['Reproduce', 'Mend', 'Tell'] });
  await app.settled();
  const from = await app.lastSequence();
  const parent = await create({ templateId, team: 'OPS' });
  expect(await app.eventTypes(from)).toEqual(Array(4).fill('issue.created'));
  const subs = async (id: string): Promise<Json[]> =>
    (await app.call('GET', `/api/v1/issues?parent=${id}&sort=subOrder`)).json.data;
  expect((await subs(parent.id)).map(({ title, team }) => [title, team.key])).toEqual([
    ['Reproduce', 'OPS'],
    ['Mend', 'OPS'],
    ['Tell', 'OPS'],
  ]);
  const body = { issues: [1, 2].map((n) => ({ team: 'ENG', title: `Bulk ${n}`, templateId })) };
  const { json } = await post('/issues/bulk', body);
  expect(json.data.map(({ title }: Json) => title)).toEqual(['Bulk 1', 'Bulk 2']);
  for (const { id } of json.data) expect(await subs(id)).toHaveLength(3);
});

test('a template creates at most as many issues per request as other requests', async () => {
  const subIssues = Array.from({ length: 50 }, (_, at) => `Step ${at}`);
  const { id: many } = await template({ subIssues });
  const { id: long } = await template({ description: 'x'.repeat(250_000) });
  const bulk = (count: number, templateId: string): Promise<Reply> =>
    post('/issues/bulk', {
      issues: Array.from({ length: count }, (_, at) => ({ team: 'ENG', title: `Many ${at}`, templateId })),
    });
  await app.settled();
  const from = await app.lastSequence();
  for (const [count, templateId, path] of [
    [10, many, 'issues.9.templateId'],
    [20, long, 'issues.16.templateId'],
  ] as const) {
    const { status, json } = await bulk(count, templateId);
    expect([status, json.error.details]).toEqual([
      422,
      [expect.objectContaining({ path, issue: 'too_big' })],
    ]);
  }
  expect(await app.eventTypes(from)).toEqual([]);
  expect((await bulk(9, many)).status).toBe(201);
});

test('references to deleted objects are dropped, and a renamed label stays', async () => {
  const label = (await post('/labels', { name: 'flaky' })).json;
  const gone = (await post('/labels', { name: 'gone' })).json;
  const member = (await post('/members', { name: 'Leaving' })).json;
  const { id } = await template({ labels: ['flaky', 'gone'], assigneeId: member.id });
  await app.call('PATCH', `/api/v1/labels/${label.id}`, { name: 'unstable' });
  await app.call('DELETE', `/api/v1/labels/${gone.id}`);
  await app.call('DELETE', `/api/v1/members/${member.id}`);
  const { json } = await app.call('GET', `/api/v1/templates/${id}`);
  expect(json.labels).toEqual([{ id: label.id, name: 'unstable' }]);
  expect(await create({ templateId: id })).toMatchObject({
    labels: [{ name: 'unstable' }],
    assignee: null,
  });
});

test('templates of another team, deleted templates and unknown labels are rejected', async () => {
  const of = await template({ team: 'OPS' });
  const refused = async (path: string, body: object) => {
    const { status, json } = await post(path, body);
    return [status, json.error.details[0].path, json.error.details[0].issue];
  };
  const issue = { team: 'ENG', title: 'Refused' };
  expect(await refused('/issues', { ...issue, templateId: of.id })).toEqual([422, 'templateId', 'conflict']);
  await app.call('DELETE', `/api/v1/templates/${of.id}`);
  expect(await refused('/issues', { ...issue, templateId: of.id })).toEqual([422, 'templateId', 'not_found']);
  expect(await refused('/templates', { name: 'X', labels: ['nowhere'] })).toEqual([
    422,
    'labels.0',
    'not_found',
  ]);
  await post('/labels', { name: 'only-ops', team: 'OPS' });
  expect(await refused('/templates', { name: 'X', team: 'ENG', labels: ['only-ops'] })).toEqual([
    422,
    'labels.0',
    'not_found',
  ]);
  expect(
    (await app.call('PATCH', `/api/v1/templates/${(await template()).id}`, { labels: ['only-ops'] })).status,
  ).toBe(422);
});

test('the list for a team contains its own templates and those of all teams', async () => {
  const [all, ops, eng] = [
    await template(),
    await template({ team: 'OPS' }),
    await template({ team: 'ENG' }),
  ];
  const { json } = await app.call('GET', '/api/v1/templates?team=ops&limit=100');
  const ids = json.data.map(({ id }: Json) => id);
  expect([all, ops, eng].map(({ id }) => ids.includes(id))).toEqual([true, true, false]);
});

test('issues get the custom field values of their template, as far as the fields still accept them', async () => {
  const { id: size } = (
    await post('/fields', {
      ...{ key: 'size', name: 'Size', type: 'select', required: true },
      options: [
        { value: 's', name: 'Small' },
        { value: 'l', name: 'Large' },
      ],
    })
  ).json;
  const { id: note } = (await post('/fields', { key: 'note', name: 'Note', type: 'text', team: 'ENG' })).json;
  const wrong = await post('/templates', { name: 'Wrong', fields: { note: 'Of one team alone.' } });
  expect([wrong.status, wrong.json.error.details[0].path]).toEqual([422, 'fields.note']);

  const fields = { size: 'Large', note: 'Why?' };
  const created = await template({ team: 'ENG', fields, subIssues: ['First'] });
  expect(created.fields).toEqual({ size: 'l', note: 'Why?' });
  expect((await create({ templateId: created.id })).fields).toEqual({ size: 'l', note: 'Why?' });
  const own = await create({ templateId: created.id, fields: { note: null, size: 's' } });
  expect(own.fields).toEqual({ size: 's' });
  const below = (await app.call('GET', `/api/v1/issues?parent=${own.id}`)).json.data;
  expect(below.map(({ fields }: Json) => fields)).toEqual([{ size: 's' }]);

  const from = await app.lastSequence();
  const changed = await app.call('PATCH', `/api/v1/templates/${created.id}`, { fields: { note: null } });
  expect(changed.json.fields).toEqual({ size: 'l' });
  expect(await app.eventTypes(from)).toEqual(['template.updated']);
  await app.call('PATCH', `/api/v1/templates/${created.id}`, { fields: { note: 'Again.' } });
  await app.call('PATCH', `/api/v1/fields/${note}`, { archived: true });
  expect((await create({ templateId: created.id })).fields).toEqual({ size: 'l' });
  await app.call('DELETE', `/api/v1/fields/${size}`);
  expect((await app.call('GET', `/api/v1/templates/${created.id}`)).json.fields).toEqual({ note: 'Again.' });
  expect((await create({ templateId: created.id })).fields).toEqual({});
});
