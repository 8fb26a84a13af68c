import { expect, test } from 'bun:test';
import { bodyCharsMax, normaliseLine, parseDocument } from './document.ts';

const parsed = parseDocument({
  title: 'Crash on save',
  description: [
    '<!-- Please search first -->',
    '### Steps to reproduce',
    '',
    '1. Save `a.txt` and see [the docs](https://example.com)',
    '**Severity:** high',
    '```js',
    'throw new Error("no")',
    '```',
    '### Expected',
  ].join('\r\n'),
});

test('prose, code, comments and template answers are separated', () => {
  expect(parsed.code).toContain('throw new Error');
  expect(parsed.prose).not.toContain('throw new Error');
  expect(parsed.prose).not.toContain('search first');
  expect(parsed.comments).toContain('Please search first');
  expect(parsed.code).toContain('a.txt');
});

test('a heading is paired with the line below it, a field with its value, an open heading with nothing', () => {
  expect(parsed.sections).toEqual([
    { heading: 'steps to reproduce', value: '0. save a.txt and see [the docs](https://example.com)' },
    { heading: 'severity', value: 'high' },
    { heading: 'expected', value: '' },
  ]);
});

test('lines that differ only in numbers and markup are equal', () => {
  expect(normaliseLine('**Version:** 1.22 <b>(x64)</b>')).toBe(normaliseLine('version: 3.4 (x86)'));
});

test('text beyond the limit is not read', () => {
  const far = parseDocument({ title: '', description: `${' '.repeat(bodyCharsMax)}segfault` });
  expect(far.prose).toBe('');
});
