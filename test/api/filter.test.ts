// One filter language: what a list finds by SQL is what a subscription finds in memory, for random issues and random trees.
// Sorted pages hold each row once, in order, whatever is written meanwhile.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { matches, parseFilter } from '../../core/lib/filter.ts';
import { issueFilterFields } from '../../core/tracker/issues/filter.ts';
import { startApp, testStart, type Json, type TestApp } from '../app.ts';

const seed = 20261120;
let app: TestApp;
let issues: Json[];
let labelIds: string[];
const words = ['Crash', 'crash', 'Ärger', 'save', 'SAVE file', 'x'];
const labels = ['bug', 'feature', 'question'];
const priorities = ['none', 'low', 'medium', 'high', 'urgent'];

beforeAll(async () => {
  app = await startApp();
  await app.call('POST', '/api/v1/teams', { key: 'OPS' });
  const passing = (await app.call('POST', '/api/v1/labels', { name: 'passing' })).json.id;
  labelIds = (await app.call('GET', '/api/v1/labels')).json.data.map((label: Json) => label.id);
  const states: Json[] = (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
  const random = mulberry(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  for (let i = 0; i < 60; i++) {
    const team = pick(['ENG', 'OPS']);
    await app.call('POST', '/api/v1/issues', {
      team,
      title: i % 20 === 7 ? `${'💥'.repeat(490)} ${i}` : `${pick(words)} ${pick(words)} ${i}`,
      priority: pick(priorities),
      labels: [...labels, 'passing'].filter(() => random() < 0.4),
      ...(random() < 0.5 ? { estimate: Math.floor(random() * 5) } : {}),
      ...(random() < 0.5 ? { dueDate: `2027-0${1 + Math.floor(random() * 9)}-11` } : {}),
      ...(random() < 0.5 ? { externalSource: 'gen', externalId: `e${i}` } : {}),
      ...(team === 'ENG' ? { stateId: pick(states).id } : {}),
    });
    app.clock.advance(Math.floor(random() * 3) * 1000);
  }
  // Issues go on carrying a deleted label unseen.
  await app.call('DELETE', `/api/v1/labels/${passing}`);
  issues = (await app.call('GET', '/api/v1/issues?limit=100')).json.data;
});
afterAll(() => app.stop());

function mulberry(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values);
const text = oneOf([...words, 'nothing', "o'clock", '%', '_']);
const condition = fc.oneof(
  fc.record({
    title: fc.oneof(fc.record({ contains: text }), fc.record({ startsWith: text }), fc.record({ eq: text })),
  }),
  fc.record({
    team: fc.oneof(
      oneOf(['ENG', 'OPS', 'NONE']),
      fc.record({ nin: fc.array(oneOf(['ENG', 'NONE']), { minLength: 1, maxLength: 2 }) }),
      fc.record({ startsWith: oneOf(['E', 'e', 'x']) }),
      fc.record({ contains: oneOf(['P', 'ng', 'x']) }),
    ),
  }),
  fc.record({
    priority: fc.oneof(
      fc.array(oneOf(priorities), { minLength: 1, maxLength: 3 }),
      fc.record({ gt: oneOf(priorities) }),
      fc.record({ lt: oneOf(priorities) }),
      fc.record({ neq: oneOf(priorities) }),
    ),
  }),
  fc.record({
    label: fc.oneof(
      oneOf([...labels, 'missing', 'passing']),
      fc.nat(3).map((at) => labelIds[at]!),
      fc.record({ contains: oneOf(['u', 'EST', 'passing', 'x']) }),
      fc.record({ startsWith: oneOf(['B', 'pass', 'lbl_']) }),
      fc.record({ neq: oneOf(labels) }),
      fc.record({ null: fc.boolean() }),
      fc.record({ nin: fc.constant(['bug', 'feature']) }),
    ),
  }),
  fc.record({
    state: fc.oneof(
      oneOf(['started', 'backlog', 'cancelled', 'completed']),
      fc.record({ neq: oneOf(['backlog', 'canceled']) }),
    ),
  }),
  fc.record({
    estimate: fc.oneof(
      fc.record({ gt: fc.integer({ min: -1, max: 5 }) }),
      fc.record({ lt: fc.integer({ min: 0, max: 5 }) }),
      fc.record({ null: fc.boolean() }),
      fc.record({ neq: fc.integer({ min: 0, max: 4 }) }),
    ),
  }),
  fc.record({
    dueDate: fc.oneof(
      fc.record({ gt: oneOf(['2027-03-01', '2027-05-11', '2026-01-01']) }),
      fc.record({ lt: oneOf(['2027-03-01', '2027-05-11', '2026-01-01']) }),
      fc.record({ startsWith: oneOf(['2027-0', '2027-03']) }),
    ),
  }),
  fc.record({
    externalId: fc.oneof(fc.record({ null: fc.boolean() }), fc.record({ startsWith: oneOf(['e1', 'E2']) })),
  }),
  fc.record({
    createdAt: fc.record({ gt: fc.integer({ min: 0, max: 90_000 }).map((ms) => new Date(testStart + ms)) }),
  }),
  fc.record({ number: fc.record({ gt: fc.integer({ min: 0, max: 40 }) }) }),
);
const tree = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    condition,
    fc.record({ and: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ or: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
  ),
})).node;

test('a list and a subscription agree on every filter', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (filter) => {
      const parsed = parseFilter(JSON.parse(JSON.stringify(filter)), issueFilterFields);
      const expected = issues
        .filter((issue) => matches(parsed, issueFilterFields, issue))
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

const sortFields = ['createdAt', 'updatedAt', 'priority', 'number', 'title', 'dueDate', 'estimate'];

test('under every sort, pages neither skip nor repeat rows that were there all along, while others come and go', async () => {
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
          // The row that a cursor may point at is deleted.
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
