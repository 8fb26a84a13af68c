import { expect, test } from 'bun:test';
import { nearest } from './words.ts';

const known = ['issue.created', 'issue.updated', 'comment.added', 'bug'];

test('a typo finds the intended name, case-insensitively', () => {
  expect(nearest('issue.craeted', known)).toBe('issue.created');
  expect(nearest('Comment.Add', known)).toBe('comment.added');
  expect(nearest('bugs', known)).toBe('bug');
  expect(nearest('bgu', known)).toBe('bug');
  expect(nearest('prio', ['position', 'priority'])).toBe('priority');
  expect(nearest('pr', ['position', 'priority'])).toBeUndefined();
});

test('a dissimilar name finds nothing, and neither does a name that is too long to compare', () => {
  expect(nearest('release.published', known)).toBeUndefined();
  expect(nearest('x', ['y', 'z'])).toBeUndefined();
  expect(nearest('nope', ['not', 'name'])).toBeUndefined();
  expect(nearest('id', ['is', 'in'])).toBeUndefined();
  expect(nearest('cat', ['dog', 'tac'])).toBeUndefined();
  expect(nearest('bug'.repeat(1000), known)).toBeUndefined();
});
