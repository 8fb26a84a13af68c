import { expect, test } from 'bun:test';
import { composedStatement, type Params, type Statement } from '../../platform/store/statement.ts';
import { scopeOf, systemOp, tenantOp, type CommittedBatch, type Op } from '../../platform/store/store.ts';
import { EntityCache, type PlannedEntity } from './entity-cache.ts';
import { amends, defineList, defineSource, frozen } from './sources.ts';

interface Thing {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly number: number | null;
  readonly tags: readonly string[];
}

const things = defineSource<Thing>(
  [
    { table: 'cached_things', key: 'id', columns: new Set(['version', 'name']) },
    { table: 'cached_tags', key: 'thing_id', columns: new Set(['tag']) },
  ],
  {
    assigned: 'number',
    settle: (left) => (left.tags.length > 2 ? undefined : frozen({ ...left, tags: left.tags.toSorted() })),
  },
);
const parts = defineList<string>(things as never, 'cached_parts', 'thing_id');

const insert = composedStatement('INSERT INTO cached_things (workspace_id, id) VALUES (:ws, :id)');
const update = composedStatement(
  'UPDATE cached_things SET version = version + 1, name = :name WHERE workspace_id = :ws AND id = :id',
);
const count = composedStatement(
  'UPDATE cached_things SET reads = reads + 1 WHERE workspace_id = :ws AND id = :id',
);
const beside = composedStatement(
  'UPDATE cached_things SET name = :name WHERE workspace_id = :ws AND id = :id',
);
const tag = composedStatement(
  'INSERT INTO cached_tags (workspace_id, thing_id, tag) VALUES (:ws, :id, :tag)',
);
const untag = composedStatement('DELETE FROM cached_tags WHERE workspace_id = :ws AND tag = :tag');
const clearParts = composedStatement('DELETE FROM cached_parts WHERE workspace_id = :ws');
const part = composedStatement('INSERT INTO cached_parts (workspace_id, thing_id) VALUES (:ws, :id)');
const sweep = composedStatement("UPDATE cached_things SET name = 'swept'");

const rename = composedStatement(
  'UPDATE cached_things SET name = :name WHERE workspace_id = :ws AND id = :id AND 1 = 1',
);
amends<Thing>(rename, things as never, (thing, { name }) => ({ ...thing, name: String(name) }));

const scope = scopeOf('ws');
const elsewhere = scopeOf('elsewhere');
const one: Thing = { id: 'one', version: 1, name: 'One', number: 1, tags: [] };
const op = (statement: Statement<unknown>, params: Params = { id: 'one' }): Op =>
  tenantOp(scope, statement, params);

function begin() {
  let tell: (batches: readonly CommittedBatch[] | null) => void = () => undefined;
  const cache = new EntityCache({ onIncluded: (listener) => void (tell = listener) });
  let reads = 0;
  return {
    cache,
    tell: (batches: readonly CommittedBatch[] | null) => tell(batches),
    /** Commits ops; the planned entity is written by the first ones. */
    commit(
      ops: readonly Op[],
      planned: readonly (Partial<PlannedEntity> & { readonly after: Thing })[] = [],
      learned = 7,
    ) {
      cache.expect(
        ops,
        scope,
        planned.map((entity) => ({
          source: things as never,
          before: null,
          ops,
          assignedBy: null,
          ...entity,
        })),
      );
      tell([{ ops, rows: ops.map(() => [{ learned }]) }]);
    },
    get: () => cache.get(things, scope, 'one'),
    read: (thing: Thing | null = one) =>
      cache.through(things, scope, 'one', () => {
        reads++;
        return Promise.resolve(thing);
      }),
    reads: () => reads,
  };
}

test('a value is read once, also that a row does not exist', async () => {
  const { read, reads, cache } = begin();
  expect([await read(), await read()]).toEqual([one, one]);
  expect(reads()).toBe(1);
  const absent = () => cache.through(things, scope, 'two', () => Promise.resolve(null));
  expect([await absent(), cache.get(things, scope, 'two')]).toEqual([null, null]);
  expect(cache.get(things, elsewhere, 'one')).toBeUndefined();
});

test('a creation is cached as a read returns it, with its commit-assigned value, and its lists are empty', () => {
  const { commit, get, cache } = begin();
  const after = { ...one, number: null, tags: ['b', 'a'] };
  commit([op(insert), op(tag, { id: 'one', tag: 'a' })], [{ after, assignedBy: 1 }]);
  expect(get()).toEqual({ ...after, number: 7, tags: ['a', 'b'] });
  expect(cache.get(parts, scope, 'one')).toEqual([]);
  expect(Object.isFrozen(get()?.tags)).toBe(true);
});

test('a creation that only a read can complete is read', () => {
  const { commit, get } = begin();
  commit([op(insert)], [{ after: { ...one, tags: ['a', 'b', 'c'] } }]);
  expect(get()).toBeUndefined();
});

test('an update of the cached value is cached, and an update of an older value is read', async () => {
  const { commit, get, read } = begin();
  const before = await read();
  const after = { ...one, version: 2, name: 'Two' };
  commit([op(update, { id: 'one', name: 'Two' })], [{ before, after }]);
  expect(get()).toEqual(after);
  const stale = get()!;
  // A statement that does not change the version: the change is still accepted, but its values are incomplete.
  commit([op(beside, { id: 'one', name: 'Beside' })]);
  commit([op(update, { id: 'one', name: 'Three' })], [{ before: stale, after: { ...stale, version: 3 } }]);
  expect(get()).toBeUndefined();
});

test('a statement beside the changes of a batch prevents that their value is cached', () => {
  const { commit, get } = begin();
  const [own, other] = [op(insert), op(beside, { id: 'one', name: 'Beside' })];
  commit([own, other], [{ after: one, ops: [own] }]);
  expect(get()).toBeUndefined();
});

test('two changes of an entity in one batch leave it to a read', () => {
  const { commit, get } = begin();
  const ops = [op(insert), op(update, { id: 'one', name: 'Two' })];
  commit(ops, [
    { after: one, ops: [ops[0]!] },
    { before: one, after: { ...one, version: 2 }, ops: [ops[1]!] },
  ]);
  expect(get()).toBeUndefined();
});

test.each<[what: string, ops: readonly Op[]]>([
  ['an update of the row', [op(beside, { id: 'one', name: 'x' })]],
  ['a write of rows that the value depends on', [op(tag, { id: 'one', tag: 'x' })]],
  ['a write of any such rows', [op(untag, { tag: 'x' })]],
  ['a write of all workspaces', [systemOp(sweep, {})]],
])('%s is followed', async (_, ops) => {
  const { commit, get, read } = begin();
  await read();
  commit(ops);
  expect(get()).toBeUndefined();
});

test('writes of other rows, columns and workspaces leave the value cached', async () => {
  const { commit, get, read } = begin();
  await read();
  commit([op(count), op(insert, { id: 'two' }), tenantOp(elsewhere, untag, { tag: 'x' })]);
  expect(get()).toEqual(one);
});

test('a statement with a declared effect changes the cached value, if it expects its row', async () => {
  const { commit, get, read } = begin();
  await read();
  commit([tenantOp(scope, rename, { id: 'one', name: 'Amended' }, { expectRows: 1 })]);
  expect(get()).toEqual({ ...one, name: 'Amended' });
  commit([op(rename, { id: 'one', name: 'Perhaps' })]);
  expect(get()).toBeUndefined();
});

test('the values that were used least recently are evicted', async () => {
  const { cache, read } = begin();
  await read();
  const long = { ...one, name: 'x'.repeat(1024 * 1024) };
  for (let n = 0; n < 40; n++) {
    cache.reading(things, scope)(`long ${n}`, long);
    expect(cache.get(things, scope, 'one')).toEqual(one);
  }
  const held = Array.from({ length: 40 }, (_, n) => cache.get(things, scope, `long ${n}`) !== undefined);
  expect(held.filter(Boolean).length).toBe(15);
  expect(held.at(-1)).toBe(true);
});

test('a value that was read before a commit is not cached after it', async () => {
  const { cache, commit, get } = begin();
  const add = cache.reading(things, scope);
  commit([op(beside, { id: 'one', name: 'Beside' })]);
  add('one', one);
  expect(get()).toBeUndefined();
});

test('a new part makes the list of its entity unknown, also in the batch of the creation', () => {
  const { commit, cache } = begin();
  for (const write of [part, clearParts]) {
    commit([op(insert)], [{ after: one }]);
    expect(cache.get(parts, scope, 'one')).toEqual([]);
    commit([op(write)]);
    expect(cache.get(parts, scope, 'one')).toBeUndefined();
  }
  const ops = [op(insert), op(part)];
  commit(ops, [{ after: one, ops: [ops[0]!] }]);
  expect(cache.get(parts, scope, 'one')).toBeUndefined();
});

test('an update of an entity keeps its empty lists, unless its batch writes a part', () => {
  for (const more of [[], [op(part)]]) {
    const { commit, get, cache } = begin();
    commit([op(insert)], [{ after: one }]);
    const before = get()!;
    const ops = [op(update, { id: 'one', name: 'Two' }), ...more];
    commit(ops, [{ before, after: { ...one, version: 2, name: 'Two' }, ops: [ops[0]!] }]);
    expect(get()?.name).toBe('Two');
    expect(cache.get(parts, scope, 'one')).toEqual(more.length === 0 ? [] : undefined);
  }
});

test('writes of others empty the cache', async () => {
  const { tell, get, read } = begin();
  await read();
  tell(null);
  expect(get()).toBeUndefined();
});

test('a representation is the same object until its entity or its basis changes', async () => {
  const { cache, commit, read, get } = begin();
  const show = (thing: Thing, basis: object) =>
    cache.shown(things as never, scope, thing, basis, () => ({ title: thing.name }));
  const [basis, other] = [{}, {}];
  const thing = (await read())!;
  const first = show(thing, basis);
  expect(show(thing, basis)).toBe(first);
  expect(Object.isFrozen(first)).toBe(true);
  expect(show(thing, other)).not.toBe(first);
  commit([tenantOp(scope, rename, { id: 'one', name: 'Amended' }, { expectRows: 1 })]);
  expect(show(get()!, other)).toEqual({ title: 'Amended' });
  // An entity of an earlier commit is shown as it was, and not cached.
  expect(show(thing, other)).toEqual({ title: 'One' });
  expect(show(get()!, other)).toEqual({ title: 'Amended' });
});
