// Lists (in SQL) and subscriptions (in memory) match the same issues, for random issues and random filters of every
// operator and every way to name a reference. Sorted pages contain each row once, in order, during concurrent writes.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ApiError } from '../../core/platform/lib/errors/errors.ts';
import { parseFilter } from '../../core/platform/lib/filter/filter.ts';
import { createSearched, passesOf } from '../../core/platform/lib/filter/filter-match.ts';
import { issueFiltering } from '../../core/features/issues/query/filter.ts';
import { startApp, testStart, type Json, type TestApp } from '../app.ts';
import { randomOf } from '../random.ts';

const seed = 20261120;
let app: TestApp;
let issues: Json[];
let ids: Record<'label' | 'state' | 'project' | 'issue', string[]>;
let me: string;
const words = ['Crash', 'crash', 'Ärger', 'save', 'SAVE file', 'x'];
const labels = ['bug', 'feature', 'question', 'Ärger'];
const priorities = ['none', 'low', 'medium', 'high', 'urgent'];

beforeAll(async () => {
  app = await startApp();
  await app.call('POST', '/api/v1/teams', { key: 'OPS' });
  const passing = (await app.call('POST', '/api/v1/labels', { name: 'passing' })).json.id;
  await app.call('POST', '/api/v1/labels', { name: 'Ärger' });
  const label = (await app.call('GET', '/api/v1/labels')).json.data.map((one: Json) => one.id);
  const project: string[] = [];
  for (const name of ['Alpha', 'Bêta', 'alpha'])
    project.push((await app.call('POST', '/api/v1/projects', { name })).json.id);
  me = app.workspace.userId;
  const ana = (await app.call('POST', '/api/v1/members', { name: 'Ana' })).json.id;
  const states: Json[] = (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
  const random = randomOf(seed).next;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const parents: string[] = [];
  for (let i = 0; i < 60; i++) {
    const team = pick(['ENG', 'OPS']);
    const { json } = await app.call('POST', '/api/v1/issues', {
      team,
      title: i % 20 === 7 ? `${'💥'.repeat(490)} ${i}` : `${pick(words)} ${pick(words)} ${i}`,
      description: i % 3 === 0 ? 'Crash' : '',
      priority: pick(priorities),
      labels: [...labels, 'Passing'].filter(() => random() < 0.4),
      ...(random() < 0.5 ? { estimate: Math.floor(random() * 5) } : {}),
      ...(random() < 0.5
        ? { dueDate: pick(['2026-11-13', '2026-11-20', '2026-11-27', '2027-03-11', '2027-05-11']) }
        : {}),
      ...(random() < 0.5 ? { externalSource: 'gen', externalId: `e${i}` } : {}),
      ...(team === 'ENG' ? { stateId: pick(states).id } : {}),
      ...(random() < 0.5 ? { projectId: pick(project) } : {}),
      ...(random() < 0.6 ? { assigneeId: pick([me, ana]) } : {}),
      ...(parents.length > 0 && random() < 0.3 ? { parentId: pick(parents) } : {}),
    });
    if (i % 5 === 0) parents.push(json.id);
    app.clock.advance(Math.floor(random() * 3) * 1000);
  }
  // Issues still carry a deleted label internally.
  await app.call('DELETE', `/api/v1/labels/${passing}`);
  issues = (await app.call('GET', '/api/v1/issues?limit=100')).json.data;
  ids = {
    label: label.filter((id: string) => id !== passing),
    state: states.map(({ id }) => id),
    project,
    issue: issues.map(({ id }) => id),
  };
});
afterAll(() => app.stop());

const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values);
const text = oneOf([...words, 'nothing', "o'clock", '%', '_']);
/** Picks an id that exists only after the server has created it. */
const known = (of: () => readonly string[]) => fc.nat(99).map((at) => of()[at % of().length]!);
/** eq, neq, in and nin of a value; with null and `none` if the field may be missing. */
const listed = (value: fc.Arbitrary<unknown>, missing: readonly unknown[] = []) => {
  const one = missing.length > 0 ? fc.oneof({ weight: 4, arbitrary: value }, oneOf(missing)) : value;
  const some = fc.array(one, { maxLength: 3 });
  return fc.oneof(
    one,
    some,
    fc.record({ eq: one }),
    fc.record({ neq: one }),
    fc.record({ in: some }),
    fc.record({ nin: some }),
    fc.record({ null: fc.boolean() }),
  );
};
const ordered = (value: fc.Arbitrary<unknown>) =>
  fc.oneof(...['gt', 'gte', 'lt', 'lte'].map((test) => fc.record({ [test]: value })));
const absent = ['none', null];
const condition = fc.oneof(
  fc.record({
    title: fc.oneof(fc.record({ contains: text }), fc.record({ startsWith: text }), fc.record({ eq: text })),
  }),
  fc.record({
    team: fc.oneof(
      listed(oneOf(['ENG', 'eng', 'Ops'])),
      fc.record({ startsWith: oneOf(['E', 'e', 'x']) }),
      fc.record({ contains: oneOf(['P', 'ng', 'x']) }),
    ),
  }),
  fc.record({ priority: fc.oneof(listed(oneOf(priorities)), ordered(oneOf(priorities))) }),
  fc.record({
    label: fc.oneof(
      listed(oneOf([...labels, 'BUG', 'äRGER', 'A\u0308rger']), absent),
      listed(
        known(() => ids.label),
        absent,
      ),
      fc.record({ contains: oneOf(['u', 'EST', 'är', 'passing', 'x']) }),
      fc.record({ startsWith: oneOf(['B', 'Ä', 'pass', 'lbl_']) }),
    ),
  }),
  fc.record({
    state: listed(
      fc.oneof(
        oneOf(['started', 'Backlog', 'cancelled', 'COMPLETED', 'todo', 'In Progress']),
        known(() => ids.state),
      ),
    ),
  }),
  fc.record({ stateId: listed(known(() => ids.state)) }),
  fc.record({
    assignee: listed(
      fc.oneof(
        oneOf(['me', 'ana', 'Acme OWNER']),
        known(() => [me]),
      ),
      absent,
    ),
  }),
  fc.record({
    creator: listed(
      fc.oneof(
        fc.constant('me'),
        known(() => [me]),
      ),
    ),
  }),
  fc.record({
    project: fc.oneof(
      listed(
        fc.oneof(
          oneOf(['ALPHA', 'BÊTA']),
          known(() => ids.project),
        ),
        absent,
      ),
      fc.record({ contains: oneOf(['ê', 'PHA', 'x']) }),
    ),
  }),
  fc.record({
    parent: listed(
      fc.oneof(
        oneOf(['ENG-1', 'eng-2', 'Ops-1']),
        known(() => ids.issue),
      ),
      absent,
    ),
  }),
  fc.record({ identifier: listed(oneOf(['ENG-1', 'eng-2', 'ops-3', 'ENG-999'])) }),
  fc.record({ id: listed(known(() => ids.issue)) }),
  fc.record({
    estimate: fc.oneof(
      listed(fc.integer({ min: 0, max: 4 }), [null]),
      ordered(fc.integer({ min: -1, max: 5 })),
    ),
  }),
  fc.record({
    dueDate: fc.oneof(
      ...[listed, ordered].map((tests) =>
        tests(oneOf(['2027-03-01', '2027-05-11', '2026-01-01', 'P0D', '-P7D', 'P1W', 'P1M', '-P1M3D'])),
      ),
      fc.record({ startsWith: oneOf(['2027-0', '2027-03']) }),
    ),
  }),
  fc.record({ description: fc.oneof(listed(text, [null]), fc.record({ contains: text })) }),
  fc.record({
    externalId: fc.oneof(fc.record({ null: fc.boolean() }), fc.record({ startsWith: oneOf(['e1', 'E2']) })),
  }),
  fc.record({
    createdAt: ordered(
      fc.oneof(
        fc.integer({ min: 0, max: 90_000 }).map((ms) => new Date(testStart + ms)),
        oneOf(['-PT10S', '-PT40S', 'PT0S', '-P1D', 'P1Y']),
      ),
    ),
  }),
  fc.record({ number: ordered(fc.integer({ min: 0, max: 40 })) }),
);
const tree = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    condition,
    fc.record({ and: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ or: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('node') }),
  ),
})).node;

test('a list and a subscription agree on every filter', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (filter) => {
      const { fields } = issueFiltering;
      const parsed = parseFilter(JSON.parse(JSON.stringify(filter)), fields, 'filter', {
        me: { id: me, memberId: me },
      });
      const passes = passesOf(parsed, fields);
      const expected = issues
        .filter((issue) => passes(issue, createSearched(), app.clock.nowMs()))
        .map(({ id }) => id);
      const { status, json } = await app.call(
        'GET',
        `/api/v1/issues?limit=100&fields=id&filter=${encodeURIComponent(JSON.stringify(filter))}`,
      );
      expect(status).toBe(200);
      expect(json.data.map((issue: Json) => issue.id)).toEqual(expected);
    }),
    { seed, numRuns: 300 },
  );
});

test('docs/spec/api.md lists every field of issues with its operators', async () => {
  const text = await Bun.file(new URL('../../docs/spec/api.md', import.meta.url)).text();
  const codes = (cell: string): string[] =>
    [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, words = '']) => words.split(', '));
  const [, table = ''] = text.split('| Fields of issues |');
  const rows = table.split('\n\n')[0]!.split('\n').slice(2);
  const said = new Map(
    rows.flatMap((row) => {
      const [, names = '', , beside = ''] = row.split('|');
      return codes(names).map(
        (name) => [name, ['eq', 'neq', 'in', 'nin', 'null', ...codes(beside)]] as const,
      );
    }),
  );
  const { fields } = issueFiltering;
  expect([...said.keys()].toSorted()).toEqual(Object.keys(fields).toSorted());
  const taken = (name: string, test: string): boolean => {
    try {
      parseFilter({ [name]: { [test]: {} } }, fields);
      return true;
    } catch (error) {
      // The operator exists if only its value is invalid.
      return (error as ApiError).details[0]?.issue !== 'unknown_field';
    }
  };
  const tests = ['eq', 'neq', 'in', 'nin', 'null', 'contains', 'startsWith', 'gt', 'gte', 'lt', 'lte'];
  for (const [name, known] of said)
    for (const one of tests)
      expect([name, one, taken(name, one)]).toEqual([name, one, known.includes(one as 'eq')]);
});

const sortFields = ['createdAt', 'updatedAt', 'priority', 'number', 'title', 'dueDate', 'estimate'];

test('under every sort, pages neither skip nor repeat stable rows during concurrent writes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.record({ name: oneOf(sortFields), down: fc.boolean() }), {
        minLength: 1,
        maxLength: 3,
        selector: ({ name }) => name,
      }),
      fc.integer({ min: 1, max: 17 }),
      async (keys, limit) => {
        const sort = keys.map(({ name, down }) => `${down ? '-' : ''}${name}`).join(',');
        const seen: string[] = [];
        let doomed: string | null = null;
        for (let after: string | null = null, page = 0; ; page++) {
          const { json, status }: Json = await app.call(
            'GET',
            `/api/v1/issues?fields=id&limit=${limit}&sort=${sort}${after === null ? '' : `&after=${after}`}`,
          );
          expect(status).toBe(200);
          seen.push(...json.data.map((issue: Json) => issue.id));
          after = json.pageInfo.endCursor;
          if (!json.pageInfo.hasNextPage) break;
          if (page === 1)
            doomed = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: `Passing ${sort}` }))
              .json.id;
          // Deletes a row that a cursor may point to.
          if (page === 2 && doomed) await app.call('DELETE', `/api/v1/issues/${doomed}`);
        }
        if (doomed) await app.call('DELETE', `/api/v1/issues/${doomed}`);
        const stable = seen.filter((id) => issues.some((issue) => issue.id === id));
        expect(new Set(stable).size).toBe(stable.length);
        expect(stable.length).toBe(issues.length);
      },
    ),
    { seed, numRuns: 40 },
  );
});
