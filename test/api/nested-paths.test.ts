// An error has the path of the submitted value at any depth, in schema errors and in errors of operations.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TSchema } from 'typebox';
import { compileCheck } from '../../core/kernel/http/request/validate.ts';
import { ApiError } from '../../core/platform/lib/errors/errors.ts';
import { scenarioOf, type Scenario } from '../scenario.ts';
import { startApp, type Json, type TestApp } from '../app.ts';

let app: TestApp;
let row: Scenario;
beforeAll(async () => {
  app = await startApp();
  row = scenarioOf(app);
});
afterAll(() => app.stop());

interface Plain {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Plain>>;
  readonly items?: Plain;
  readonly anyOf?: readonly Plain[];
  readonly enum?: readonly unknown[];
}

interface InvalidBody {
  readonly path: string;
  readonly body: unknown;
}

/** Bodies with one error each, for every place of a schema that can be invalid. */
function* wrongIn(schema: Plain): Generator<InvalidBody> {
  const { properties, items, anyOf } = schema;
  for (const one of anyOf ?? []) if (one.type !== 'null') yield* wrongIn(one);
  for (const [name, below] of Object.entries(properties ?? {}))
    for (const { path, body } of wrongIn(below))
      yield { path: path === '' ? name : `${name}.${path}`, body: { [name]: body } };
  if (items)
    for (const { path, body } of wrongIn(items))
      yield { path: path === '' ? '0' : `0.${path}`, body: [body] };
  const isWhole = schema.type === 'object' || schema.type === 'array';
  if (schema.type !== undefined || schema.enum) yield { path: '', body: isWhole ? 17 : {} };
}

test('an invalid value in any body is reported at its submitted path', () => {
  let nested = 0;
  for (const { name, body: schema } of app.app.routes) {
    if (!schema) continue;
    const check = compileCheck(schema);
    for (const { path, body } of wrongIn(schema as TSchema as Plain)) {
      if (path === '') continue;
      if (path.includes('.')) nested++;
      let paths: readonly string[] = [];
      try {
        check(body);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        paths = error.details.map((detail) => detail.path);
      }
      // Only the first eight errors are returned, and missing properties precede the others.
      if (paths.length < 8) expect([name, path, paths]).toEqual([name, path, expect.arrayContaining([path])]);
    }
  }
  expect(nested).toBeGreaterThan(50);
});

const columns = [{ value: 'unstarted' }];
const invalid = (...details: string[]) => ({
  status: 422,
  error: ['validation_failed', ...details] as [string, ...string[]],
});

test('invalid values in nullable objects and lists are reported at their own path', async () => {
  const team = `/teams/${app.workspace.teamId}`;
  await row('PATCH', team, { cycles: { weeks: 99 } }, invalid('cycles.weeks too_big'));
  await row(
    'PATCH',
    team,
    { cycles: { weeks: 'two', soon: 1 } },
    invalid('cycles.soon unknown_field', 'cycles.weeks invalid_type'),
  );
  await row('PATCH', team, { cycles: 'weekly' }, invalid('cycles invalid_type'));
  const board = (more: object) => ({ name: 'B', groupBy: 'stateType', ...more });
  await row(
    'POST',
    '/boards',
    board({ columns: [{ ...columns[0], limit: 'x' }] }),
    invalid('columns.0.limit invalid_type'),
  );
  await row(
    'POST',
    '/boards',
    board({ columns: [...columns, { value: 'started', limit: 0 }] }),
    invalid('columns.1.limit too_small'),
  );
  await row('POST', '/boards', board({ columns: [{}] }), invalid('columns.0.value required'));
  await row('POST', '/boards', board({ columns: [] }), invalid('columns too_short'));
  await row('POST', '/boards', board({ columns: 5 }), invalid('columns invalid_type'));
});

const filters: [filter: object, detail: string][] = [
  [{ priority: { eq: 'asap' } }, 'filter.priority.eq invalid_enum'],
  [{ or: [{ priority: 'high' }, { estimate: { gt: 'a' } }] }, 'filter.or.1.estimate.gt invalid_type'],
  [{ assignee: { in: ['usr_1'] } }, 'filter.assignee.in.0 not_found'],
  [{ nope: 1 }, 'filter.nope unknown_field'],
];

test('an invalid filter in a body is reported at its operand', async () => {
  for (const [filter, detail] of filters)
    for (const [path, body] of [
      ['/views', { name: 'V', filter }],
      ['/boards', { name: 'B', filter }],
      ['/sla-policies', { name: 'S', targetMinutes: 60, filter }],
      ['/webhooks', { url: 'https://example.com/', events: ['issue.created'], filter }],
      ['/issues/bulk-update', { filter, set: { priority: 'high' } }],
      ['/issues/bulk-delete', { filter }],
    ] as const)
      await row('POST', path, body, invalid(detail));
});

test('an operation reports an invalid list entry, map entry or bulk issue at its own path', async () => {
  const team = `/teams/${app.workspace.teamId}`;
  const states: Json[] = (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
  const [from, to] = states.map(({ id }) => id as string);
  const none = `wfs_${'0'.repeat(26)}`;
  await row(
    'PATCH',
    team,
    { transitions: { [from!]: [to, none] } },
    invalid(`transitions.${from}.1 not_found`),
  );
  await row('PATCH', team, { transitions: { [none]: [] } }, invalid(`transitions.${none} not_found`));
  const issues = [{ title: 'a' }, { title: 'b', labels: ['nope'] }].map((one) => ({ team: 'ENG', ...one }));
  await row('POST', '/issues/bulk', { issues }, invalid('issues.1.labels.0 not_found'));
  const bulk = { ids: ['ENG-1'], set: { addLabels: ['nope'] } };
  await row('POST', '/issues/bulk-update', { ...bulk, set: {} }, invalid('ids.0 not_found'));
  const issue = await row('POST', '/issues', issues[0], { status: 201, events: ['issue.created'] });
  await row(
    'POST',
    '/issues/bulk-update',
    { ...bulk, ids: [issue.id] },
    invalid('set.addLabels.0 not_found'),
  );
  const late = { from: '09:00', to: '25:00' };
  await row(
    'POST',
    '/calendars',
    { name: 'C', timeZone: 'UTC', hours: { monday: [late] } },
    invalid('hours.monday.0.to invalid_format'),
  );
  const holidays = ['2026-02-01', '2026-02-31'];
  const hours = { monday: [{ ...late, to: '12:00' }] };
  await row(
    'POST',
    '/calendars',
    { name: 'C', timeZone: 'UTC', hours, holidays },
    invalid('holidays.1 invalid_format'),
  );
  await row(
    'PATCH',
    '/workspace',
    { publicTriage: { teams: ['ENG', 'NOPE'] } },
    invalid('publicTriage.teams.1 not_found'),
  );
  await row(
    'POST',
    '/api-keys',
    { name: 'k', scopes: ['issues:read', 'nope'] },
    invalid('scopes.1 invalid_enum'),
  );
});
