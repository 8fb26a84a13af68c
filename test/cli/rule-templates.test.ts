// Values of `tatami rules template --set`, which needs no server.
import { expect, test } from 'bun:test';
import { tatami } from './tatami.ts';

const rules = (...args: string[]) => tatami(['rules', ...args]);

test('a list is given with commas, as JSON, or by repetition', async () => {
  for (const set of [['members=Ana, Ben'], ['members=["Ana", "Ben"]'], ['members=Ana', 'members=Ben']]) {
    const args = set.flatMap((one) => ['--set', one]);
    const listed = await rules('template', 'on-call-round-robin', ...args, '--json');
    expect(listed.json.actions[0].members).toEqual(['Ana', 'Ben']);
  }
});

test.each([
  ['stale-close', 'days=abc', '--set days must be a whole number from 1 to 365, not "abc".'],
  ['priority-by-keyword', 'priority=hgih', 'low, medium, high or urgent. Did you mean high?'],
  [
    'recurring-issue',
    'cron=every day',
    '--set cron cannot be "every day". A schedule needs five cron fields',
  ],
  ['recurring-issue', 'timeZone=Mars', '--set timeZone cannot be "Mars". '],
  ['remind-assignee', 'before=1d', 'Give an ISO 8601 duration of days, weeks or months, such as P1D or P1W.'],
  ['on-call-round-robin', 'members=[Ana]', '--set members takes a JSON list of texts'],
  ['on-call-round-robin', 'members=["Lovelace, Ada"]', '"Lovelace, Ada" has a comma'],
])('%s refuses --set %s at once', async (template, set, message) => {
  const refused = await rules('template', template, '--set', set);
  expect([refused.code, refused.out, refused.err]).toEqual([2, '', expect.stringContaining(message)]);
});

test('a placeholder without a list takes one value', async () => {
  const refused = await rules('template', 'stale-close', '--set', 'days=1', '--set', 'days=2');
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--set days takes one value.')]);
});
