// Bulk updates and deletions of issues, selected by id or by filter, succeed or fail as a whole.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

let app: TestApp;
let step: Scenario;
let created: Json[];
beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
  await app.call('POST', '/api/v1/teams', { key: 'OPS' });
});
afterAll(() => app.stop());

const simulated = { 'tatami-mode': 'simulate' };
beforeEach(async () => {
  const issues = ['ENG', 'ENG', 'OPS'].map((team, index) => ({
    team,
    title: `Bulk ${index}`,
    labels: ['bug'],
  }));
  created = (await app.call('POST', '/api/v1/issues/bulk', { issues })).json.data;
});

test('issues are selected by id or identifier, and the response lists the changes of each issue', async () => {
  const [a, b, c] = created;
  await app.call('PATCH', `/api/v1/issues/${b.id}`, { priority: 'high', addLabels: ['feature'] });
  const body = {
    ids: [a.id, b.identifier.toLowerCase(), c.identifier, a.identifier],
    set: { priority: 'high', addLabels: ['feature'] },
  };
  const data = [
    {
      id: a.id,
      identifier: a.identifier,
      version: 2,
      changes: {
        priority: { from: 'none', to: 'high' },
        labels: { from: [{ name: 'bug' }], to: [{ name: 'bug' }, { name: 'feature' }] },
      },
    },
    { id: b.id, version: 2, changes: {} },
    { id: c.id, version: 2 },
  ];
  await step('POST', '/issues/bulk-update', body, { status: 200, headers: simulated, body: { data } });
  const answer = await step('POST', '/issues/bulk-update', body, {
    status: 200,
    body: { data },
    events: ['issue.updated', 'issue.labeled', 'issue.updated', 'issue.labeled'],
  });
  expect([answer.data.length, Object.keys(answer.data[0].changes)]).toEqual([3, ['priority', 'labels']]);
  await step('GET', `/issues/${c.id}`, undefined, { status: 200, body: { version: 2, priority: 'high' } });
  await step('POST', '/issues/bulk-update', body, { status: 200 });
});

test('a filter selects every matching issue', async () => {
  const title = `Filtered ${created[0].identifier}`;
  const ids = created.map(({ id }) => id);
  await app.call('POST', '/api/v1/issues/bulk-update', { ids, set: { title } });
  await step(
    'POST',
    '/issues/bulk-update',
    { filter: { title: { contains: title }, team: 'ENG' }, set: { estimate: 3 } },
    {
      status: 200,
      body: { data: ids.slice(0, 2).map((id) => ({ id, changes: { estimate: { from: null, to: 3 } } })) },
      events: ['issue.updated', 'issue.updated'],
    },
  );
  await step(
    'POST',
    '/issues/bulk-delete',
    { filter: { title } },
    {
      status: 200,
      body: { data: ids.map((id) => ({ id, changes: { deletedAt: { from: null } } })) },
      events: ['issue.deleted', 'issue.deleted', 'issue.deleted'],
    },
  );
  await step('GET', `/issues/${ids[0]}`, undefined, { status: 404 });
  await step('POST', `/issues/${ids[0]}/restore`, undefined, { status: 200, events: ['issue.restored'] });
  await step(
    'POST',
    '/issues/bulk-update',
    { filter: { title: 'nothing like it' }, set: {} },
    { status: 200, body: { data: [] } },
  );
});

test('an issue that is missing or cannot be changed is named in the error, and no issue is changed', async () => {
  const [a, b, c] = created;
  await app.call('DELETE', `/api/v1/issues/${b.id}`);
  const set = { priority: 'urgent' };
  await step(
    'POST',
    '/issues/bulk-update',
    { ids: [a.id, b.id, 'NOPE-7', c.id, 'ENG-9999'], set },
    {
      status: 422,
      error: ['validation_failed', 'ids.1 not_found', 'ids.2 not_found', 'ids.4 not_found'],
    },
  );
  await step(
    'POST',
    '/issues/bulk-delete',
    { ids: [a.id, 'NOPE-7'] },
    { status: 422, error: ['validation_failed', 'ids.1 not_found'] },
  );
  await step(
    'POST',
    '/issues/bulk-update',
    { ids: [a.id, 'no name'], set },
    { status: 422, error: ['validation_failed', 'ids.1 invalid_format'] },
  );
  // A state of one team only.
  const [state] = (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
  const moved = await app.call('POST', '/api/v1/issues/bulk-update', {
    ids: [a.id, c.id],
    set: { stateId: state.id },
  });
  expect([moved.status, moved.json.error.details]).toEqual([
    422,
    [{ path: 'ids.1', issue: 'not_found', fix: expect.stringContaining(`${c.identifier}: `) }],
  ]);
  // The instruction alone would not name the reason.
  expect(moved.json.error.details[0].fix).toContain('is not a state of this team.');
  // An error that concerns all issues is reported once, at its own path.
  for (const [wrong, detail] of [
    [{ labels: ['nothing like it'] }, 'set.labels.0 not_found'],
    [{ parentId: 'NOPE-7' }, 'set.parentId not_found'],
    [{ estimate: -1 }, 'set.estimate too_small'],
    [{ team: 'OPS' }, 'set.team unknown_field'],
  ] as const)
    await step(
      'POST',
      '/issues/bulk-update',
      { ids: [a.id, c.id], set: wrong },
      { status: 422, error: ['validation_failed', detail] },
    );
  await step('GET', `/issues/${a.id}`, undefined, { status: 200, body: { version: 1, priority: 'none' } });
});

test('a bulk request without a valid selection of issues is refused', async () => {
  for (const [path, more] of [
    ['bulk-update', { set: { priority: 'low' } }],
    ['bulk-delete', {}],
  ] as const)
    for (const [body, detail] of [
      [{}, 'ids required'],
      [{ ids: [] }, 'ids too_short'],
      [{ ids: Array(501).fill(created[0].id) }, 'ids too_long'],
      [{ ids: [created[0].id], filter: { priority: 'low' } }, 'filter conflict'],
      [{ filter: {} }, 'filter too_short'],
      [{ filter: { and: [{}] } }, 'filter too_short'],
      [{ filter: { priority: { nin: [] } } }, 'filter too_short'],
      [{ filter: { or: [{ label: 'bug' }, { title: { contains: '' } }] } }, 'filter too_short'],
      [{ filter: { not: { label: [] } } }, 'filter too_short'],
      [{ filter: { nothing: 'like it' } }, 'filter.nothing unknown_field'],
    ] as const)
      await step(
        'POST',
        `/issues/${path}`,
        { ...body, ...more },
        { status: 422, error: ['validation_failed', detail] },
      );
});

test('a bulk update of more than 4 MiB of text is refused', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 17; n++)
    ids.push(
      (
        await app.call('POST', '/api/v1/issues', {
          team: 'OPS',
          title: 'Long',
          description: 'x'.repeat(256 * 1024),
        })
      ).json.id,
    );
  const refused = { status: 422, error: ['budget_exceeded'] as [string] };
  await step('POST', '/issues/bulk-update', { ids, set: { priority: 'low' } }, refused);
  await step('POST', '/issues/bulk-delete', { ids }, refused);
  const short = created.map(({ id }) => id);
  const description = 'y'.repeat(256 * 1024);
  await step(
    'POST',
    '/issues/bulk-update',
    { ids: short, set: { description } },
    { status: 200, events: Array(3).fill('issue.updated') },
  );
  expect((await app.call('POST', '/api/v1/issues/bulk-delete', { ids: ids.slice(0, 16) })).status).toBe(200);
});

test('a bulk request with an idempotency key takes effect once and preserves concurrent changes of others', async () => {
  const ids = created.map(({ id }) => id);
  const replies = await Promise.all([
    ...Array.from({ length: 6 }, (_, index) =>
      app.call(
        'POST',
        '/api/v1/issues/bulk-update',
        { ids, set: { estimate: index } },
        { 'idempotency-key': `bulk ${ids[0]} ${index}` },
      ),
    ),
    ...ids.map((id) => app.call('PATCH', `/api/v1/issues/${id}`, { addLabels: ['feature'] })),
  ]);
  expect(replies.map(({ status }) => status)).toEqual(Array(9).fill(200));
  const again = await app.call(
    'POST',
    '/api/v1/issues/bulk-update',
    { ids, set: { estimate: 0 } },
    { 'idempotency-key': `bulk ${ids[0]} 0` },
  );
  expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([replies[0]!.text, 'true']);
  for (const id of ids)
    expect((await app.call('GET', `/api/v1/issues/${id}`)).json.labels.map(({ name }: Json) => name)).toEqual(
      ['bug', 'feature'],
    );
});

test('five hundred issues are changed at once, and more are refused', async () => {
  for (let round = 0; round < 5; round++)
    await app.call('POST', '/api/v1/issues/bulk', {
      issues: Array.from({ length: 100 }, () => ({ team: 'OPS', title: 'Five hundred' })),
    });
  const all = await app.call('POST', '/api/v1/issues/bulk-update', {
    filter: { title: 'Five hundred' },
    set: { priority: 'low' },
  });
  expect([all.status, all.json.data.length]).toEqual([200, 500]);
  await app.call('POST', '/api/v1/issues', { team: 'OPS', title: 'Five hundred' });
  for (const [path, body] of [
    ['bulk-update', { set: { priority: 'high' } }],
    ['bulk-delete', {}],
  ] as const)
    await step(
      'POST',
      `/issues/${path}`,
      { filter: { title: 'Five hundred' }, ...body },
      { status: 422, error: ['validation_failed', 'filter too_big'] },
    );
});

test('every invalid entry of a bulk creation is named', async () => {
  const issues = Array.from({ length: 30 }, () => ({ team: 'ENG', title: '' }));
  const { status, json } = await app.call('POST', '/api/v1/issues/bulk', { issues });
  const paths = new Set(json.error.details.map(({ path }: Json) => path));
  expect([status, paths]).toEqual([422, new Set(issues.map((_, at) => `issues.${at}.title`))]);
  expect(json.error.message).toContain('(and 29 more)');
});
