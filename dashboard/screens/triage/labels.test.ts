import { expect, test } from 'bun:test';
import { labelChange } from './labels.ts';

test('a change of labels and its undo name only the labels that differ', () => {
  expect(labelChange(['a', 'b'], ['b', 'c'])).toEqual({ addLabels: ['c'], removeLabels: ['a'] });
  expect(labelChange(['b', 'c'], ['a', 'b'])).toEqual({ addLabels: ['a'], removeLabels: ['c'] });
  expect(labelChange(['a'], ['a'])).toEqual({});
});
