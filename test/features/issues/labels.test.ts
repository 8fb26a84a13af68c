// A PATCH replaces the labels of an issue, or adds and removes some.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

let app: TestApp;
let step: Scenario;
let path: string;
beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
  const { id } = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Labels', labels: ['bug'] }))
    .json;
  path = `/issues/${id}`;
});
afterAll(() => app.stop());

const namesOf = (issue: Json): string[] => issue.labels.map(({ name }: Json) => name);

test('labels are added and removed by id or by name in any case, and the event contains the previous labels', async () => {
  const labels: Json[] = (await app.call('GET', '/api/v1/labels')).json.data;
  const feature = labels.find(({ name }) => name === 'feature').id;
  const events = ['issue.updated', 'issue.labeled'];
  const added = await step('PATCH', path, { addLabels: ['QUESTION', feature] }, { status: 200, events });
  expect(namesOf(added)).toEqual(['bug', 'feature', 'question']);
  const both = { addLabels: ['bug'], removeLabels: ['Feature'] };
  const removed = await step('PATCH', path, both, { status: 200, events });
  expect(namesOf(removed)).toEqual(['bug', 'question']);
  const [last] = (await app.call('GET', `/api/v1${path}/history`)).json.data.slice(-1);
  expect(namesOf(last.data.previous)).toEqual(['bug', 'feature', 'question']);
  // Adding a present label and removing an absent one.
  const nothing = { addLabels: ['bug'], removeLabels: ['feature'] };
  await step('PATCH', path, nothing, { status: 200, body: { version: removed.version } });
  await step('PATCH', path, { addLabels: [], removeLabels: [] }, { status: 200 });
});

test('an invalid change of labels is refused at its path', async () => {
  for (const [body, ...details] of [
    [{ labels: ['bug'], addLabels: ['feature'] }, 'addLabels conflict'],
    [{ labels: ['bug'], removeLabels: ['feature'] }, 'removeLabels conflict'],
    [{ addLabels: ['bug'], removeLabels: ['BUG'] }, 'removeLabels conflict'],
    [{ addLabels: ['bug', 'nothing like it'] }, 'addLabels.1 not_found'],
    [{ removeLabels: ['nothing like it'] }, 'removeLabels.0 not_found'],
    [{ addLabels: 'bug' }, 'addLabels invalid_type'],
  ] as const)
    await step('PATCH', path, body, { status: 422, error: ['validation_failed', ...details] });
  const create = { team: 'ENG', title: 'New', addLabels: ['bug'] };
  await step('POST', '/issues', create, {
    status: 422,
    error: ['validation_failed', 'addLabels unknown_field'],
  });
});

test('an issue has at most 50 labels, in every way of adding them', async () => {
  const names = Array.from({ length: 51 }, (_, index) => `many ${index}`);
  for (const name of names) await app.call('POST', '/api/v1/labels', { name });
  await step(
    'PATCH',
    path,
    { labels: names.slice(0, 50) },
    { status: 200, events: ['issue.updated', 'issue.labeled'] },
  );
  const one = { addLabels: [names[50]] };
  await step('PATCH', path, one, { status: 422, error: ['validation_failed', 'addLabels too_long'] });
  await step(
    'PATCH',
    path,
    { ...one, removeLabels: [names[0]] },
    { status: 200, events: ['issue.updated', 'issue.labeled'] },
  );
});
