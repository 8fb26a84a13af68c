// Every condition of a rule, and every relative that an action can act on.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { rulesOf } from './engine-rules.ts';

let app: TestApp;
const { ok, issue, get, act, rule, run, typesSince } = rulesOf(() => app);

beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const raise = [{ type: 'set', fields: { priority: 'urgent' } }];
const done = { state: 'completed' };
const high = { priority: 'high' };
const relate = (one: Json, type: string, other: Json): Promise<Json> =>
  ok('POST', `/issues/${one.id}/relations`, { type, issueId: other.id });
const sub = (parent: Json, more: object = {}): Promise<Json> => issue({ parentId: parent.id, ...more });

/** Tests conditions on an issue. @returns null if they hold, else the reason that the run logs */
async function unmet(conditions: object, one: Json): Promise<string | null> {
  const from = await app.lastSequence();
  const { logs, result } = await act(raise, one, { conditions });
  const isChanged = (await typesSince(from)).includes('issue.updated');
  if (isChanged) await ok('PATCH', `/issues/${one.id}`, { priority: one.priority });
  const lines = logs.map(({ message }: Json) => message);
  expect(isChanged ? lines : [`Skipped ${result.skipped[0]}`]).toEqual(isChanged ? [] : lines);
  return isChanged ? null : result.skipped[0].replace(`${one.identifier}: `, '');
}

test('without conditions, a rule always acts', async () => {
  expect(await unmet({}, await issue())).toBeNull();
});

test('the issue must match its filter', async () => {
  const one = await issue(high);
  expect(await unmet({ issue: high }, one)).toBeNull();
  expect(await unmet({ issue: { or: [{ priority: 'low' }, { title: { contains: 'two' } }] } }, one)).toBe(
    'the issue does not match.',
  );
});

test('the parent must exist, be absent, or match', async () => {
  const [alone, parent] = [await issue(), await issue(high)];
  const one = await sub(parent);
  expect(await unmet({ parent: { exists: true } }, one)).toBeNull();
  expect(await unmet({ parent: { exists: true } }, alone)).toBe('it has no parent.');
  expect(await unmet({ parent: { exists: false } }, alone)).toBeNull();
  expect(await unmet({ parent: { exists: false } }, one)).toBe('it has a parent.');
  expect(await unmet({ parent: { filter: high } }, one)).toBeNull();
  expect(await unmet({ parent: { filter: high } }, alone)).toBe('it has no parent.');
  expect(await unmet({ parent: { filter: done } }, one)).toBe('the parent does not match.');
});

test('all, any or none of the sub-issues must match', async () => {
  const [empty, mixed, finished] = [await issue(), await issue(), await issue()];
  await sub(mixed, done);
  await sub(mixed);
  await sub(finished, done);
  const of = async (match: string, one: Json): Promise<string | null> =>
    unmet({ subIssues: { match, filter: done } }, one);
  expect(await Promise.all([of('all', finished), of('any', mixed), of('none', empty)])).toEqual([
    null,
    null,
    null,
  ]);
  expect(await of('all', mixed)).toBe('a sub-issue does not match.');
  expect(await of('all', empty)).toBe('it has no sub-issue.');
  expect(await of('any', empty)).toBe('no sub-issue matches.');
  expect(await of('none', mixed)).toBe('a sub-issue matches.');
});

describe('relations', () => {
  for (const [type, inverse] of [
    ['blocks', 'blocked_by'],
    ['blocked_by', 'blocks'],
    ['relates_to', 'relates_to'],
    ['duplicate_of', 'duplicated_by'],
    ['duplicated_by', 'duplicate_of'],
  ] as const)
    test(`of type ${type} are tested on the other issues`, async () => {
      const [one, other] = [await issue(), await issue(high)];
      await relate(one, type, other);
      const of = (match: string, filter: object, tested = type): Promise<string | null> =>
        unmet({ relations: { type: tested, match, filter } }, one);
      expect(await of('all', high)).toBeNull();
      expect(await of('any', { priority: 'low' })).toBe('no related issue matches.');
      expect(await of('none', high)).toBe('a related issue matches.');
      if (inverse !== type) expect(await of('any', high, inverse)).not.toBeNull();
    });

  test('of any type are tested together', async () => {
    const [one, blocked, related] = [await issue(), await issue(high), await issue()];
    const of = (match: string): Promise<string | null> => unmet({ relations: { match, filter: high } }, one);
    expect(await of('all')).toBe('it has no related issue.');
    expect(await of('none')).toBeNull();
    await relate(one, 'blocks', blocked);
    expect(await of('all')).toBeNull();
    await relate(one, 'relates_to', related);
    expect(await of('all')).toBe('a related issue does not match.');
    expect(await of('any')).toBeNull();
  });
});

test('an invalid filter ends the run with its field', async () => {
  const { status, error } = await run(
    await rule(raise, { conditions: { issue: { colour: 'red' } } }),
    await issue(),
  );
  expect(status).toBe('dead');
  expect(error.message).toMatch(/^Drop: conditions: .*colour/s);
});

describe('an action acts on', () => {
  /** Runs the action on relatives. @returns the identifiers of the issues that are urgent */
  async function raised(on: string, one: Json, among: readonly Json[]): Promise<string[]> {
    await act([{ ...raise[0], on }], one);
    const now = await Promise.all(among.map(get));
    return now.flatMap(({ priority, identifier }) => (priority === 'urgent' ? [identifier] : []));
  }

  test('the parent, and on nothing without one', async () => {
    const parent = await issue();
    const one = await sub(parent);
    expect(await raised('parent', one, [parent, one])).toEqual([parent.identifier]);
    expect(await raised('parent', await issue(), [one])).toEqual([]);
  });

  test('the sub-issues, with values of the issue of the rule', async () => {
    const one = await issue({ dueDate: '2027-05-01' });
    const [first, second] = [await sub(one), await sub(one)];
    await act([{ type: 'set', on: 'sub_issues', fields: { dueDate: '{{ issue.dueDate }}' } }], one);
    expect((await Promise.all([first, second].map(get))).map(({ dueDate }) => dueDate)).toEqual(
      Array(2).fill('2027-05-01'),
    );
    expect(await raised('sub_issues', one, [one, first, second])).toEqual([
      first.identifier,
      second.identifier,
    ]);
  });

  for (const [on, type] of [
    ['blocks', 'blocks'],
    ['blocked_by', 'blocked_by'],
    ['related', 'relates_to'],
    ['duplicates', 'duplicated_by'],
    ['duplicate_of', 'duplicate_of'],
  ] as const)
    test(`the issues of "${on}"`, async () => {
      const [one, other, unrelated] = [await issue(), await issue(), await issue()];
      await relate(one, type, other);
      const inverse = { blocks: 'blocked_by', blocked_by: 'blocks' } as Readonly<Record<string, string>>;
      if (inverse[on]) await relate(one, inverse[on], unrelated);
      expect(await raised(on, one, [one, other, unrelated])).toEqual([other.identifier]);
    });
});
