import { expect, test } from 'bun:test';
import { issueNumber } from './rows.ts';

const pending: Readonly<Record<string, unknown>> = {
  id: 'iss_1',
  identifier: 'ENG-',
  number: null,
  title: 'ENG-',
  url: 'https://t.example/issues/ENG-',
};

test('the number completes a pending identifier and url, and nothing else', () => {
  expect(issueNumber.complete(pending, 7)).toEqual({
    ...pending,
    identifier: 'ENG-7',
    number: 7,
    url: 'https://t.example/issues/ENG-7',
  });
  const committed = { ...pending, identifier: 'ENG-3', number: 3, url: 'https://t.example/issues/ENG-3' };
  expect(issueNumber.complete(committed, 7)).toEqual(committed);
  expect(issueNumber.complete({ body: 'x', issue: { id: 'iss_1', identifier: 'ENG-' } }, 7)).toEqual({
    body: 'x',
    issue: { id: 'iss_1', identifier: 'ENG-7' },
  });
  expect(pending.identifier).toBe('ENG-');
});

test('an uncommitted issue has no identifier, also inside another object', () => {
  const hidden = { ...pending, identifier: null, url: null };
  expect(issueNumber.hide(pending)).toEqual(hidden);
  expect(issueNumber.hide({ body: 'x', issue: pending })).toEqual({ body: 'x', issue: hidden });
  expect(issueNumber.hide({ identifier: 'ENG-4', url: 'u' })).toEqual({ identifier: 'ENG-4', url: 'u' });
});

test('a pending number is found in JSON', () => {
  expect(issueNumber.waits.test(JSON.stringify({ data: [pending] }))).toBe(true);
  expect(issueNumber.waits.test(JSON.stringify({ ...pending, identifier: 'ENG-7' }))).toBe(false);
});
