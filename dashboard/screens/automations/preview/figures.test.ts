import { expect, test } from 'bun:test';
import { figuresOf } from './figures.ts';

const window = { since: '2026-01-01T00:00:00.000Z', until: '2026-04-01T00:00:00.000Z', toSequence: 1 };
const field = (name: string, same: number, opposite: number, nothing: number) => ({
  ...{ field: name, wouldChange: same + opposite + nothing, same, opposite, nothing },
  ...{ agreement: null, thenSame: 0, thenOther: 0 },
});

test('the figures of one field count issues', () => {
  expect(figuresOf({ window, fields: [field('priority', 38, 3, 0)] })).toEqual({
    days: 90,
    issues: 41,
    changes: 41,
    same: 38,
    opposite: 3,
    nothing: 0,
  });
});

test('the figures of several fields are the sums of their changes', () => {
  const fields = [field('priority', 1, 2, 3), field('assignee', 10, 20, 30)];
  expect(figuresOf({ window, fields })).toMatchObject({ issues: null, changes: 66, same: 11, nothing: 33 });
});

test('a rule that changes nothing has no figures', () => {
  expect(figuresOf({ window, fields: [] })).toMatchObject({ issues: null, changes: 0 });
});
