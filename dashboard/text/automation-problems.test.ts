import { expect, test } from 'bun:test';
import { problemWords } from './automation-problems.ts';

const rule = { actions: [{ type: 'set' }, { type: 'comment' }, { type: 'mystery' }] };

test.each([
  ['actions.1.body', 'too_short', 'Give at least 1 character.', 'Action 2, Comment: Write a text.'],
  ['actions.1.body', 'invalid_format', 'Close it.', 'Action 2, Comment: Close it.'],
  ['actions.2.value', 'required', 'Give a value.', 'Action 3, mystery: Give a value.'],
  ['actions', 'too_short', 'Give at least 1 items.', 'Then: Add an action.'],
  ['trigger.days', 'too_small', 'Give a number >= 1.', 'When: Write a number from 1 to 365.'],
  ['name', 'invalid_format', 'Send the expected value: Non-blank text.', 'Name: Write a name.'],
  ['issues', 'required', 'Give a filter.', 'Issues to act on: Give a filter.'],
  ['elsewhere', 'conflict', 'Try again.', 'Try again.'],
] as const)('the problem of %s is explained in words of the editor', (path, issue, fix, words) => {
  expect(problemWords({ path, issue, fix }, rule)).toBe(words);
});
