// Cache of rows as the read snapshot of the event loop has them. It follows the log: for each batch that the snapshot comes to include,
// the values that its statements write are dropped, then those that its changes leave are added. An answer is therefore always that of a
// read: never of a commit that has not succeeded, and never older than the last one that has.
import { LRUCache } from 'lru-cache';
import { effectOf } from '../../platform/store/effects.ts';
import type { CommittedBatch, Op, Scope, Store } from '../../platform/store/store.ts';
import type { Entity } from './change.ts';
import { type AnySource, type Source, writtenBy } from './sources.ts';
import { charsIn } from './staging.ts';

const cachedCharactersMax = 16 * 1024 * 1024;
/** Estimated size of an entry without its texts, in characters. */
const overhead = 600;
/** Number of workspaces of a source whose drops are distinguished. */
const workspacesMax = 1_000;

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
  /** Number of included batches when the value was added. */
  readonly at: number;
  value: unknown;
  /** True for a value as its change had it; the first read of it settles it. */
  isLeft: boolean;
}

/** Number of included batches at the last drop of all values of a source: in any workspace, and by workspace. */
interface Drops {
  floor: number;
  readonly byWorkspace: Map<string, number>;
}

export class EntityCache {
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: cachedCharactersMax,
    sizeCalculation: ({ value }, name) => charsIn(value) + name.length + overhead,
  });
  readonly #plans = new WeakMap<readonly Op[], Plan>();
  readonly #drops = new Map<AnySource, Drops>();
  #included = 0;

  constructor(store: Pick<Store, 'onIncluded'>) {
    store.onIncluded((batches) => {
      if (batches === null) this.clear();
      else for (const batch of batches) this.#include(batch);
    });
  }

  /** Returns a cached value, which must not be changed: null if there is no row, undefined if the cache does not know. */
  get<V>(source: Source<V>, { workspaceId }: Scope, key: string): V | null | undefined {
    const name = nameOf(source as AnySource, workspaceId, key);
    const entry = this.#fresh(source as AnySource, workspaceId, name);
    if (!entry) return undefined;
    if (entry.isLeft) {
      const settled = source.settle?.(entry.value as V);
      if (settled === undefined) {
        this.#entries.delete(name);
        return undefined;
      }
      entry.value = frozen(settled);
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
      if (this.#included !== at) return;
      const name = nameOf(source as AnySource, workspaceId, key);
      this.#entries.set(name, { at, value: frozen(value), isLeft: false });
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

  /** Announces the entities that a batch leaves if it is committed with these ops. */
  expect(ops: readonly Op[], { workspaceId }: Scope, entities: readonly PlannedEntity[]): void {
    // Several changes of one entity are not merged here; the next read does.
    const ids = new Set(
      entities.map(({ source, after }) => nameOf(source as AnySource, workspaceId, after.id)),
    );
    if (entities.length > 0 && ids.size === entities.length) this.#plans.set(ops, { workspaceId, entities });
  }

  clear(): void {
    this.#entries.clear();
    this.#included++;
  }

  #include(batch: CommittedBatch): void {
    const { workspaceId, entities } = this.#plans.get(batch.ops) ?? { workspaceId: '', entities: [] };
    // The values of a change are complete only if it was planned on the latest row: some statements change a row but not its version.
    const complete = entities.filter(
      ({ source, before }) => before === null || this.#holds(source as AnySource, workspaceId, before),
    );
    const foreign = this.#drop(batch.ops, entities);
    this.#included++;
    for (const { source, before, after, assignedBy } of complete) {
      const add = (to: AnySource, value: unknown, isLeft: boolean): void => {
        const name = nameOf(to, workspaceId, after.id);
        if (!foreign.has(to.number) && !foreign.has(name))
          this.#entries.set(name, { at: this.#included, value, isLeft });
      };
      const assigned = assignedBy === null ? null : { [source.assigned!]: learnedIn(batch, assignedBy) };
      add(source as AnySource, assigned ? { ...after, ...assigned } : after, true);
      if (before === null) for (const list of source.lists) add(list as AnySource, [], false);
    }
  }

  #holds(source: AnySource, workspaceId: string, entity: Entity): boolean {
    return this.#fresh(source, workspaceId, nameOf(source, workspaceId, entity.id))?.value === entity;
  }

  #fresh(source: AnySource, workspaceId: string, name: string): Entry | undefined {
    const entry = this.#entries.get(name);
    if (!entry) return undefined;
    const drops = this.#drops.get(source);
    if (!drops) return entry;
    return entry.at > drops.floor && entry.at > (drops.byWorkspace.get(workspaceId) ?? -1)
      ? entry
      : undefined;
  }

  /**
   * Drops what the ops write.
   * @returns names of values, and numbers of sources, that an op other than those of their entity writes
   */
  #drop(ops: readonly Op[], entities: readonly PlannedEntity[]): ReadonlySet<string | number> {
    const foreign = new Set<string | number>();
    const owners = new Map(entities.flatMap((entity) => entity.ops.map((op) => [op, entity])));
    for (const op of ops) {
      const effect = effectOf(op.statement);
      if (!effect) continue;
      for (const { source, workspaceId, key } of writtenBy(op, effect)) {
        if (workspaceId === null || key === null) {
          this.#dropAll(source, workspaceId);
          foreign.add(source.number);
          continue;
        }
        const name = nameOf(source, workspaceId, key);
        this.#entries.delete(name);
        const owner = owners.get(op);
        if (owner?.source.number !== source.number || owner.after.id !== key) foreign.add(name);
      }
    }
    return foreign;
  }

  #dropAll(source: AnySource, workspaceId: string | null): void {
    const drops = this.#drops.get(source) ?? { floor: -1, byWorkspace: new Map<string, number>() };
    this.#drops.set(source, drops);
    if (workspaceId !== null && drops.byWorkspace.size < workspacesMax)
      drops.byWorkspace.set(workspaceId, this.#included);
    else {
      drops.floor = this.#included;
      drops.byWorkspace.clear();
    }
  }
}

const nameOf = ({ number }: AnySource, workspaceId: string, key: string): string =>
  `${number} ${workspaceId} ${key}`;

const learnedIn = ({ rows }: CommittedBatch, op: number): number => Number(rows[op]![0]!.learned);

function frozen<V>(value: V): V {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
