import { expect, test } from 'bun:test';
import { BearerTable } from './table.ts';

const lifeMs = 300_000;

function tableOf(bounds?: ConstructorParameters<typeof BearerTable>[0]) {
  const table = new BearerTable(bounds);
  const add = (sessionId: string, hash: string, now = 0): void =>
    table.add({ sessionId, hash }, { workspaceId: 'w', expiresAt: now + lifeMs }, now);
  const known = (...hashes: string[]): string[] => hashes.filter((hash) => table.find(hash) !== null);
  return { table, add, known };
}

test('the total is bounded: the oldest bearers of the sessions idle for longest end first', () => {
  const { table, add, known } = tableOf({ ofSessionMax: 10, totalMax: 3 });
  add('idle', 'i1');
  add('idle', 'i2');
  add('busy', 'b1');
  add('busy', 'b2');
  expect(known('i1', 'i2', 'b1', 'b2')).toEqual(['i2', 'b1', 'b2']);
  add('idle', 'i3');
  // The idle session is now the last used one.
  expect(known('i2', 'i3', 'b1', 'b2')).toEqual(['i2', 'i3', 'b2']);
  for (let at = 0; at < 100; at++) add(`session ${at}`, `s${at}`);
  expect(table.size).toBe(3);
  expect(known('s97', 's98', 's99')).toEqual(['s97', 's98', 's99']);
});

test('a session has a bounded number of bearers, and none of another session ends for it', () => {
  const { table, add, known } = tableOf({ ofSessionMax: 2, totalMax: 10 });
  add('other', 'o1');
  for (const hash of ['a1', 'a2', 'a3']) add('a', hash);
  expect(known('o1', 'a1', 'a2', 'a3')).toEqual(['o1', 'a2', 'a3']);
  expect(table.size).toBe(3);
});

test('the table forgets bearers of sessions that are no longer used', () => {
  const { table, add } = tableOf();
  for (let at = 0; at < 1_000; at++) add(`session ${at}`, `s${at}`);
  expect(table.size).toBe(1_000);
  add('later', 'l', lifeMs);
  expect(table.size).toBe(1);
});

test('by default, a server stores 50,000 bearers', () => {
  const { table, add } = tableOf();
  for (let at = 0; at < 50_010; at++) add(`session ${at}`, `s${at}`);
  expect(table.size).toBe(50_000);
});
