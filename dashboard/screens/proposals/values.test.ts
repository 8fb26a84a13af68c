import { expect, test } from 'bun:test';
import { fieldWords, partsOf, valueText } from './values.ts';

test('characters that hide or reorder text are shown as escapes', () => {
  const unseen = 'Invoice \u202egpj.exe\u2066\u200b\u{e0041}\u0007 and a family 👩\u200d👧';
  expect(valueText(unseen)).toBe(
    'Invoice \\u202egpj.exe\\u2066\\u200b\\udb40\\udc41\\u0007 and a family 👩\u200d👧',
  );
});

test('references show their names, and missing values a word', () => {
  expect(valueText({ id: 'usr_1', name: 'Ana' })).toBe('Ana');
  expect(valueText([{ name: 'bug' }, { name: 'ui' }])).toBe('bug, ui');
  expect(valueText({ id: 'iss_1', identifier: 'ENG-1' })).toBe('ENG-1');
  expect([null, undefined, '', []].map(valueText)).toEqual(['None', 'None', 'None', 'None']);
  expect(valueText(3)).toBe('3');
});

test('names of properties are words, and those of custom fields stay', () => {
  expect(['title', 'dueDate', 'fields.severityLevel'].map(fieldWords)).toEqual([
    'Title',
    'Due date',
    'fields.severityLevel',
  ]);
});

test('a list shows which items are added, removed and left, and a changed order too', () => {
  const [bug, old, api] = ['bug', 'old', 'api'].map((name) => ({ id: `lbl_${name}`, name }));
  expect(partsOf([bug, old], [bug, api])).toEqual([
    { kind: 'same', text: 'bug' },
    { kind: 'removed', text: 'old' },
    { kind: 'added', text: 'api' },
  ]);
  expect(partsOf([bug, api], [api, bug])?.map(({ kind }) => kind)).toEqual(['removed', 'same', 'added']);
});

test('a long text shows its changed lines between all of its other lines', () => {
  expect(partsOf('one\n\ntwo', 'one\n\nthree\nfour')).toEqual([
    { kind: 'same', text: 'one' },
    { kind: 'same', text: '' },
    { kind: 'removed', text: 'two' },
    { kind: 'added', text: 'three' },
    { kind: 'added', text: 'four' },
  ]);
  expect(partsOf('old title', 'new title')).toBeNull();
  expect(partsOf('x\n'.repeat(1_500), 'y\n'.repeat(1_500))).toBeNull();
});

test('items in front leave the others unchanged', () => {
  const kinds = partsOf(['a', 'b'], ['new', 'newer', 'a', 'b'])?.map(({ kind }) => kind);
  expect(kinds).toEqual(['added', 'added', 'same', 'same']);
});

test('unseen characters of an item are written as escapes', () => {
  expect(partsOf([], ['a\u202eb'])).toEqual([{ kind: 'added', text: 'a\\u202eb' }]);
});
