import { expect, test } from 'bun:test';
import { text } from './common.ts';

test('relative times have the words of Intl', () => {
  const intl = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
  for (const unit of ['year', 'month', 'day', 'hour', 'minute', 'second'] as const)
    for (const amount of [-40, -2, -1, 1, 2, 40])
      expect(text.relativeTime(amount, unit)).toBe(intl.format(amount, unit));
  expect(text.relativeTime(-0, 'second')).toBe(intl.format(-0, 'second'));
});
