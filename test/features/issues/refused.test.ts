// Refusals of issues name the field or parameter and have no effect.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

let app: TestApp;
let step: Scenario;

beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
});
afterAll(() => app.stop());

test('an invalid request is refused with its field, and nothing changes', async () => {
  const refuse = (body: object, ...details: string[]) =>
    step(
      'POST',
      '/issues',
      { team: 'ENG', title: 'T', ...body },
      { status: 422, error: ['validation_failed', ...details] },
    );
  await refuse({ priority: 'asap' }, 'priority invalid_enum');
  await refuse({ colour: 'red' }, 'colour unknown_field');
  await refuse({ title: '' }, 'title too_short', 'title invalid_format');
  await refuse({ title: '   ' }, 'title invalid_format');
  await refuse({ title: 'x'.repeat(501) }, 'title too_long');
  await refuse({ title: 5 }, 'title invalid_type');
  await refuse({ team: 'NOPE' }, 'team not_found');
  await refuse({ teamKey: 'NOPE' }, 'teamKey not_found');
  await refuse({ estimate: -1 }, 'estimate too_small');
  await refuse({ estimate: 10_001 }, 'estimate too_big');
  await refuse({ dueDate: 'tomorrow' }, 'dueDate invalid_format');
  await refuse({ dueDate: '2027-02-30' }, 'dueDate invalid_format');
  await refuse({ labels: ['bug', 'nope'] }, 'labels.1 not_found');
  await refuse({ labels: ['bug', 'bug'] }, 'labels conflict');
  await refuse({ externalId: 'x' }, 'externalSource required');
  await refuse({ description: 'é'.repeat(200_000) }, 'description too_long');
  const { details, message } = (await app.call('POST', '/api/v1/issues', { team: 'NOPE', title: 'T' })).json
    .error;
  const fix = 'Use one of ENG, or an id.';
  expect([message, details]).toEqual([
    `team: There is no such team. ${fix}`,
    [{ path: 'team', issue: 'not_found', fix }],
  ]);
  await step(
    'POST',
    '/issues',
    { team: 'ENG' },
    { status: 422, error: ['validation_failed', 'title required'] },
  );
  await step(
    'POST',
    '/issues',
    { title: 'T' },
    { status: 422, error: ['validation_failed', 'team required'] },
  );
  await step('GET', '/issues?limit=0', undefined, {
    status: 422,
    error: ['validation_failed', 'limit too_small'],
  });
  await step('GET', '/issues?limit=101', undefined, {
    status: 422,
    error: ['validation_failed', 'limit too_big'],
  });
  for (const limit of ['1e1', '0x10', ' 5', '5.0', '', '-0'])
    await step('GET', `/issues?limit=${encodeURIComponent(limit)}`, undefined, {
      status: 422,
      error: ['validation_failed', 'limit invalid_type'],
    });
  await step('GET', '/issues?limit=5&limit=6', undefined, {
    status: 422,
    error: ['validation_failed', 'limit conflict'],
  });
  await step('GET', '/issues?colour=red', undefined, {
    status: 422,
    error: ['validation_failed', 'colour unknown_field'],
  });
  await step('GET', '/issues?state=open', undefined, {
    status: 422,
    error: ['validation_failed', 'state not_found'],
  });
  await step('GET', '/issues?filter=%7B%22x%22:1%7D', undefined, {
    status: 422,
    error: ['validation_failed', 'filter.x unknown_field'],
  });
  await step('GET', '/issues?filter=%7B', undefined, {
    status: 422,
    error: ['validation_failed', 'filter invalid_format'],
  });
  await step('GET', '/issues?sort=colour', undefined, {
    status: 422,
    error: ['validation_failed', 'sort invalid_enum'],
  });
  await step('GET', '/issues?fields=colour', undefined, {
    status: 422,
    error: ['validation_failed', 'fields invalid_enum'],
  });
  await step('GET', '/issues?expand=colour', undefined, {
    status: 422,
    error: ['validation_failed', 'expand invalid_enum'],
  });
  expect(await app.lastSequence()).toBeGreaterThan(0);
});
