// Cache of rows as the read snapshot of the event loop has them. It follows the log: for each batch that the snapshot comes to include,
// the values that its statements write are dropped, then those that its changes leave are added. An answer is therefore always that of a
// read: never of a commit that has not succeeded, and never older than the last one that has.
import type { CommittedBatch, Op, Scope, Store } from '../../platform/store/store.ts';
import type { Entity } from './change.ts';
import { charactersOf, frozen, targetsOf, type AnySource, type Source } from './sources.ts';

/** Characters of the cached texts, with an estimate for the rest of each value. */
const cachedCharactersMax = 16 * 1024 * 1024;
const overhead = 600;
const overheadOfList = 150;

/** Entity that a batch leaves, and the ops that write it. */
export interface PlannedEntity {
  readonly source: Source<Entity>;
  readonly before: Entity | null;
  readonly after: Entity;
  readonly ops: readonly Op[];
  /** Index in the batch of the op that returns the commit-assigned value as `learned`; null if none does. */
  readonly assignedBy: number | null;
}

interface Plan {
  readonly workspaceId: string;
  readonly entities: readonly PlannedEntity[];
}

interface Entry {
  readonly bucket: Bucket;
  readonly key: string;
  characters: number;
  value: unknown;
  /** Representation of the value; null if there is none. */
  shown: { readonly basis: object; readonly as: object } | null;
  /** True for a value as its change had it; the first read of it settles it. */
  isLeft: boolean;
  /** True if the value was read since the last search for values to evict. */
  isUsed: boolean;
  /** Lists of the entity that are known to be empty, which saves values of their own. */
  emptyLists: readonly AnySource[];
}

/** Values of one source in one workspace. */
interface Bucket {
  readonly workspaceId: string;
  /** Buckets of the source, which lists this one while it has entries. */
  readonly siblings: Map<string, Bucket>;
  readonly entries: Map<string, Entry>;
}

export class EntityCache {
  /** By number of the source, then by workspace. */
  readonly #buckets: Map<string, Bucket>[] = [];
  /** All values, those to evict first at the start. */
  readonly #order = new Set<Entry>();
  readonly #plans = new WeakMap<readonly Op[], Plan>();
  #characters = 0;
  #included = 0;

  constructor(store: Pick<Store, 'onIncluded'>) {
    store.onIncluded((batches) => {
      try {
        if (batches === null) this.clear();
        else for (const batch of batches) this.#include(batch);
      } catch {
        // The commit has succeeded, so that the cache must not fail it. A test finds statements that it does not understand.
        this.clear();
      }
    });
  }

  /** Returns a cached value, which must not be changed: null if there is no row, undefined if the cache does not know. */
  get<V>(source: Source<V>, { workspaceId }: Scope, key: string): V | null | undefined {
    const entry = this.#find(source as AnySource, workspaceId, key);
    if (!entry) return this.#isEmptyList(source as AnySource, workspaceId, key) ? (none as V) : undefined;
    entry.isUsed = true;
    if (entry.isLeft) {
      const settled = source.settle?.(entry.value as V);
      if (settled === undefined) {
        this.#remove(entry);
        return undefined;
      }
      entry.value = settled;
      entry.isLeft = false;
    }
    return entry.value as V | null;
  }

  /**
   * Returns a function that adds the results of a read. Must be called before the read: results are ignored if a commit was included in
   * between.
   */
  reading<V>(source: Source<V>, { workspaceId }: Scope): (key: string, value: V | null) => void {
    const at = this.#included;
    return (key, value) => {
      if (this.#included === at) this.#add(source as AnySource, workspaceId, key, frozen(value), false);
    };
  }

  /** Returns the cached value, or reads and adds it. */
  async through<V>(
    source: Source<V>,
    scope: Scope,
    key: string,
    read: () => Promise<V | null>,
  ): Promise<V | null> {
    const known = this.get(source, scope, key);
    if (known !== undefined) return known;
    const add = this.reading(source, scope);
    const value = await read();
    add(key, value);
    return value;
  }

  /**
   * Returns the representation of a cached entity, which must not be changed; the same object as long as entity and basis are the same.
   * @param basis what the representation depends on beside the entity, compared by identity
   */
  shown<W extends object>(
    source: AnySource | null,
    { workspaceId }: Scope,
    entity: Entity,
    basis: object,
    show: () => W,
  ): W {
    const entry = source && this.#find(source, workspaceId, entity.id);
    if (entry?.value !== entity) return show();
    if (entry.shown?.basis === basis) return entry.shown.as as W;
    const as = frozen(show());
    // It is mostly sent as JSON, which is cached with it.
    const characters = 2 * charactersOf(as) + overhead;
    if (!entry.shown) {
      entry.characters += characters;
      this.#characters += characters;
    }
    entry.shown = { basis, as };
    return as;
  }

  /** Announces the entities that a batch leaves if it is committed with these ops. */
  expect(ops: readonly Op[], { workspaceId }: Scope, entities: readonly PlannedEntity[]): void {
    // Several changes of one entity are not merged here: the next read finds what they leave.
    const isSingle =
      entities.length === 1 || new Set(entities.map(({ after }) => after.id)).size === entities.length;
    if (entities.length > 0 && isSingle) this.#plans.set(ops, { workspaceId, entities });
  }

  /** Drops everything, as after the writes of others. */
  clear(): void {
    this.#buckets.length = 0;
    this.#order.clear();
    this.#characters = 0;
    this.#included++;
  }

  #include(batch: CommittedBatch): void {
    const { workspaceId, entities } = this.#plans.get(batch.ops) ?? nothing;
    // The values of a change are complete only if it was planned on the latest row: some statements change a row but not its version.
    const complete: { readonly planned: PlannedEntity; readonly emptyLists: Entry['emptyLists'] }[] = [];
    for (const planned of entities) {
      const { source, before } = planned;
      const known = before && this.#find(source as AnySource, workspaceId, before.id);
      if (before === null) complete.push({ planned, emptyLists: source.lists });
      else if (known?.value === before) complete.push({ planned, emptyLists: known.emptyLists });
    }
    const foreign = this.#drop(batch.ops, entities);
    this.#included++;
    for (const { planned, emptyLists } of complete) {
      const { after, assignedBy } = planned;
      const source = planned.source as AnySource;
      const isForeign = (to: AnySource): boolean =>
        foreign.size > 0 && (foreign.has(to.number) || foreign.has(nameOf(to, after.id)));
      if (isForeign(source)) continue;
      const left =
        assignedBy === null ? after : { ...after, [source.assigned!]: learnedIn(batch, assignedBy) };
      const entry = this.#add(source, workspaceId, after.id, left, true);
      entry.emptyLists = emptyLists.some(isForeign)
        ? emptyLists.filter((list) => !isForeign(list))
        : emptyLists;
    }
  }

  #isEmptyList(list: AnySource, workspaceId: string, key: string): boolean {
    const entry = list.of && this.#find(list.of, workspaceId, key);
    if (!entry?.emptyLists.includes(list)) return false;
    entry.isUsed = true;
    return true;
  }

  /**
   * Drops what the ops write.
   * @returns names of values, and numbers of sources, that an op other than those of their entity writes
   */
  #drop(ops: readonly Op[], entities: readonly PlannedEntity[]): ReadonlySet<string | number> {
    const owned =
      entities.length === 0 ? noEntities : new Map(entities.map((entity) => [entity.after.id, entity]));
    const foreign = new Set<string | number>();
    for (const op of ops)
      for (const target of targetsOf(op.statement)) {
        const { source } = target;
        const workspaceId = op.scope?.workspaceId ?? valueOf(op, target.workspaceParam);
        const key = valueOf(op, target.keyParam);
        if (workspaceId === null || key === null) {
          this.#dropAll(source, workspaceId);
          foreign.add(source.number);
          continue;
        }
        this.#amend(op, source, workspaceId, key, target.amend);
        if (!isOwn(owned.get(key), source, op)) foreign.add(nameOf(source, key));
      }
    return foreign;
  }

  /** Changes a value as the op changes its row, if that is known, or drops it. */
  #amend(
    { params, expectRows }: Op,
    source: AnySource,
    workspaceId: string,
    key: string,
    amend: ((value: never, params: Op['params']) => unknown) | null,
  ): void {
    const owner = source.of && this.#find(source.of, workspaceId, key);
    if (owner) mayHaveRows(owner, source);
    const entry = this.#find(source, workspaceId, key);
    if (!entry) return;
    if (amend && expectRows === 1 && entry.value !== null)
      this.#add(source, workspaceId, key, frozen(amend(entry.value as never, params)), entry.isLeft);
    else this.#remove(entry);
  }

  #find({ number }: AnySource, workspaceId: string, key: string): Entry | undefined {
    return this.#buckets[number]?.get(workspaceId)?.entries.get(key);
  }

  #add(source: AnySource, workspaceId: string, key: string, value: unknown, isLeft: boolean): Entry {
    const siblings = (this.#buckets[source.number] ??= new Map<string, Bucket>());
    const bucket = siblings.get(workspaceId) ?? { workspaceId, siblings, entries: new Map<string, Entry>() };
    if (bucket.entries.size === 0) siblings.set(workspaceId, bucket);
    const old = bucket.entries.get(key);
    if (old) this.#forget(old);
    const texts = value === null ? 0 : (source.characters ?? charactersOf)(value as never);
    const characters = texts + (Array.isArray(value) ? overheadOfList : overhead);
    const emptyLists = old?.emptyLists ?? noLists;
    const entry: Entry = { bucket, key, characters, value, shown: null, isLeft, isUsed: false, emptyLists };
    bucket.entries.set(key, entry);
    this.#order.add(entry);
    this.#characters += characters;
    if (this.#characters > cachedCharactersMax) this.#evict();
    return entry;
  }

  /** A value that was read since it was last passed over goes to the end. */
  #evict(): void {
    for (const entry of this.#order) {
      if (this.#characters <= cachedCharactersMax) return;
      if (!entry.isUsed) this.#remove(entry);
      else {
        entry.isUsed = false;
        this.#order.delete(entry);
        this.#order.add(entry);
      }
    }
  }

  #remove(entry: Entry): void {
    const { workspaceId, siblings, entries } = entry.bucket;
    entries.delete(entry.key);
    if (entries.size === 0) siblings.delete(workspaceId);
    this.#forget(entry);
  }

  #forget(entry: Entry): void {
    this.#order.delete(entry);
    this.#characters -= entry.characters;
  }

  /** @param workspaceId null for all workspaces */
  #dropAll(source: AnySource, workspaceId: string | null): void {
    for (const { workspaceId: id, siblings, entries } of this.#bucketsOf(source, workspaceId)) {
      for (const entry of entries.values()) this.#forget(entry);
      siblings.delete(id);
    }
    if (source.of)
      for (const { entries } of this.#bucketsOf(source.of, workspaceId))
        for (const entry of entries.values()) mayHaveRows(entry, source);
  }

  #bucketsOf({ number }: AnySource, workspaceId: string | null): readonly Bucket[] {
    const buckets = this.#buckets[number];
    if (!buckets) return [];
    if (workspaceId === null) return [...buckets.values()];
    const bucket = buckets.get(workspaceId);
    return bucket ? [bucket] : [];
  }
}

/** Notes that a list of an entity may have rows. */
function mayHaveRows(entry: Entry, list: AnySource): void {
  if (entry.emptyLists.includes(list)) entry.emptyLists = entry.emptyLists.filter((other) => other !== list);
}

const nothing: Plan = { workspaceId: '', entities: [] };
const noEntities: ReadonlyMap<string, PlannedEntity> = new Map();
const none = Object.freeze([]);
const noLists: readonly AnySource[] = [];

/** True for an op of the change of this entity. */
const isOwn = (entity: PlannedEntity | undefined, { number }: AnySource, op: Op): boolean =>
  entity?.source.number === number && entity.ops.includes(op);

const nameOf = ({ number }: AnySource, key: string): string => `${number} ${key}`;

const valueOf = ({ params }: Op, param: string | undefined): string | null =>
  param === undefined ? null : String(params[param]);

const learnedIn = ({ rows }: CommittedBatch, op: number): number | null => {
  const learned = rows[op]?.[0]?.learned ?? null;
  return learned === null ? null : Number(learned);
};
