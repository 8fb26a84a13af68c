import { expect, test } from 'bun:test';
import { matches, ordered } from './order.ts';

const labels = ['Create an issue', 'Go to Boards', 'Theme: Dark'];

function first(input: string, identifiers: readonly string[] = ['ENG-7']): string | undefined {
  const commands = labels.filter((label) => matches(label, input));
  return ordered(input, { commands, objects: identifiers, identifiers })[0]?.items[0];
}

test.each([
  ['board', 'Go to Boards'],
  ['go bo', 'Go to Boards'],
  ['dark', 'Theme: Dark'],
])('%p finds a command before issues', (input, label) => {
  expect(first(input)).toBe(label);
});

test('an input that begins no word of a command finds issues', () => {
  expect(first('oards')).toBe('ENG-7');
});

test('the issue with the exact identifier comes before commands', () => {
  expect(first('go-1', ['GO-1'])).toBe('GO-1');
  expect(first('dark', ['DARK'])).toBe('DARK');
  expect(first('dark', ['DARK-1'])).toBe('Theme: Dark');
});

test('groups without content are left out', () => {
  expect(ordered('x', { commands: [], objects: [], identifiers: [] })).toEqual([]);
});
