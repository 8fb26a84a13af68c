import { expect, test } from 'bun:test';
import type { View } from '../context.ts';
import { scopeOf } from '../../platform/store/store.ts';
import { previousValues, withoutCommit, type Entity, type NewEntity } from '../changes/change.ts';
import { modelOf } from './model.ts';
import { flag, json } from '../changes/operations.ts';
import { FairQuota } from '../../platform/lib/fairness/fair-quota.ts';
import { Staging, stagedCharsMax } from '../changes/staging.ts';

interface Note extends Entity {
  readonly text: string;
  readonly pinned: boolean;
  readonly tags: readonly string[] | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const noteModel = modelOf<Note, { id: string; text: string; version: number }>({
  name: 'note',
  // An existing table, because a startup guard checks statements in other tests; in capitals for distinct
  // names.
  table: 'ENDPOINTS',
  fields: {
    text: 'url',
    pinned: flag('enabled'),
    tags: json('events_json'),
    createdAt: 'created_at',
    updatedAt: 'updated_at',
  },
  toResponse: ({ id, text, version }) => ({ id, text, version }),
  // Pinning derives no event, which a test requires.
  events: (before, after) =>
    !before ? ['label.created'] : before.text !== after.text ? ['label.updated'] : [],
});
const view = {} as View;
const note = (): NewEntity<Note> => ({
  id: 'n1',
  text: 'a',
  pinned: false,
  tags: ['x'],
  createdAt: 1,
  updatedAt: 1,
});

test('a write without its event is impossible', () => {
  const { after } = noteModel.create(note());
  const pin = noteModel.update(after, { pinned: true }, 2)!;
  expect(() => pin.events(withoutCommit(view))).toThrow('derives no event');
});

test('a patch without a difference is no change', () => {
  const { after } = noteModel.create(note());
  for (const patch of [{}, { text: 'a' }, { tags: ['x'] }, { pinned: false, text: 'a' }, { updatedAt: 9 }])
    expect([patch, noteModel.update(after, patch, 9)]).toEqual([patch, null]);
  expect(noteModel.update(after, { tags: null }, 9)!.after).toMatchObject({ version: 2, updatedAt: 9 });
});

test('an update writes only the changed columns, guarded by the version it was planned on', () => {
  const { after } = noteModel.create(note());
  const [op] = noteModel
    .update(after, { text: 'b', tags: ['x'] }, 9)!
    .ops(scopeOf('ws'), withoutCommit(view));
  expect(op!.params).toEqual({ id: 'n1', base: 1, url: 'b', updated_at: 9 });
  expect(op!.expectRows).toBe(1);
  expect(op!.statement.sql).not.toContain('enabled');
});

test('a row is read back as written', () => {
  const change = noteModel.create({ ...note(), pinned: true, tags: null });
  const [op] = change.ops(scopeOf('ws'), withoutCommit(view));
  expect(noteModel.fromRow({ ...op!.params, version: 1 })).toEqual(change.after);
});

test('staged changes of one entity become one: the first before, the last after, one version', () => {
  const staging = new Staging(new FairQuota(stagedCharsMax), 'ws', 'plg');
  const request = { operation: 'notes.update', input: {}, ids: [] };
  const { after } = noteModel.create(note());
  const first = noteModel.update(after, { text: 'b' }, 2)!;
  staging.add([first], request);
  const second = noteModel.update(staging.find('note', 'n1') as Note, { text: 'c' }, 3)!;
  staging.add([second], request);
  expect(staging.effects).toBe(2);
  expect(staging.changes.length).toBe(1);
  const [merged] = staging.changes;
  expect([merged!.before, merged!.after]).toMatchObject([
    { text: 'a', version: 1 },
    { text: 'c', version: 2 },
  ]);
  expect(merged!.events(withoutCommit(view))[0]!.data).toEqual({
    id: 'n1',
    text: 'c',
    version: 2,
    previous: { text: 'a' },
  });
  expect(staging.find('note', 'n2')).toBeUndefined();
  expect(() => first.followedBy(noteModel.create({ ...note(), id: 'n2' }))).toThrow('same entity');
});

test('previous contains the old values of the changed fields, without the bookkeeping', () => {
  expect(
    previousValues(
      { a: 1, b: { x: 1 }, c: null, version: 1, updatedAt: 1 },
      { a: 2, b: { x: 1 }, c: 5, d: 6, version: 2, updatedAt: 2 },
    ),
  ).toEqual({ a: 1, c: null, d: null });
});
