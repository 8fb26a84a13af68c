// An issue identifier is accepted in place of its id, in paths and as a parent.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

let app: TestApp;
let step: Scenario;
let first: Json;
beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
  first = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'First' })).json;
});
afterAll(() => app.stop());

test('every path of an issue accepts its identifier, with the team key in any case', async () => {
  expect(first.identifier).toBe('ENG-1');
  const byId = (await app.call('GET', `/api/v1/issues/${first.id}`)).json;
  await step('GET', '/issues/ENG-1', undefined, { status: 200, body: byId });
  await step('GET', '/issues/eng-1?fields=title', undefined, {
    status: 200,
    body: { id: first.id, title: 'First' },
  });
  await step('PATCH', '/issues/Eng-1', { title: 'Named' }, { status: 200, events: ['issue.updated'] });
  const { id } = await step(
    'POST',
    '/issues/ENG-1/comments',
    { body: 'Seen' },
    { status: 201, body: { issue: { id: first.id, identifier: 'ENG-1' } }, events: ['comment.added'] },
  );
  const comments = await step('GET', '/issues/eng-1/comments', undefined, { status: 200 });
  expect(comments.data.map((comment: Json) => comment.id)).toEqual([id]);
  await step('DELETE', '/issues/ENG-1', undefined, { status: 204, events: ['issue.deleted'] });
  await step('GET', '/issues/ENG-1', undefined, { status: 404 });
  await step('PATCH', '/issues/ENG-1', { title: 'Gone' }, { status: 404 });
  await step('POST', '/issues/ENG-1/restore', undefined, { status: 200, events: ['issue.restored'] });
  const history = await step('GET', '/issues/eng-1/history', undefined, { status: 200 });
  expect(history.data.map(({ type }: Json) => type)).toEqual([
    'issue.created',
    'issue.updated',
    'comment.added',
    'issue.deleted',
    'issue.restored',
  ]);
});

test('an identifier without an issue is answered with 404, also if it is malformed', async () => {
  for (const name of [
    'ENG-99',
    'NOPE-99',
    'eng-0',
    'ENG-01',
    'ENG-',
    'ENG-1x',
    '-1',
    '1-1',
    'ENG-99999999999',
  ])
    for (const [method, below] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/comments'],
      ['GET', '/history'],
    ] as const)
      expect([
        name,
        method,
        below,
        (await app.call(method, `/api/v1/issues/${name}${below}`)).status,
      ]).toEqual([name, method, below, 404]);
});

test('a parent is given by its identifier, also in bulk', async () => {
  const created = await step(
    'POST',
    '/issues',
    { team: 'ENG', title: 'Child', parentId: 'eng-1' },
    { status: 201, events: ['issue.created'] },
  );
  await step('GET', `/issues/${created.identifier}`, undefined, {
    status: 200,
    body: { parent: { id: first.id, identifier: 'ENG-1' } },
  });
  // The issue has this parent already, so that nothing changes.
  await step('PATCH', `/issues/${created.id}`, { parentId: 'ENG-1' }, { status: 200, body: { version: 1 } });
  const circle = await app.call('PATCH', '/api/v1/issues/ENG-1', { parentId: created.identifier });
  expect([circle.status, circle.json.error.details[0].path]).toEqual([422, 'parentId']);
  const missing = await app.call('PATCH', '/api/v1/issues/ENG-1', { parentId: 'ENG-99' });
  expect([missing.status, missing.json.error.details[0]]).toEqual([
    422,
    { path: 'parentId', issue: 'not_found', fix: 'Use the id or identifier of an existing issue.' },
  ]);
});
