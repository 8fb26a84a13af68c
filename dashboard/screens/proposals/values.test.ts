import { expect, test } from 'bun:test';
import { valueText } from './values.ts';

test('characters that hide or reorder text are shown as escapes', () => {
  const unseen = 'Invoice \u202egpj.exe\u2066\u200b\u{e0041}\u0007 and a family 👩\u200d👧';
  expect(valueText(unseen)).toBe(
    'Invoice \\u202egpj.exe\\u2066\\u200b\\udb40\\udc41\\u0007 and a family 👩\u200d👧',
  );
});

test('references show their names, and missing values a word', () => {
  expect(valueText({ id: 'usr_1', name: 'Ana' })).toBe('Ana');
  expect(valueText([{ name: 'bug' }, { name: 'ui' }])).toBe('bug, ui');
  expect([null, undefined, '', []].map(valueText)).toEqual(['None', 'None', 'None', 'None']);
  expect(valueText(3)).toBe('3');
});
