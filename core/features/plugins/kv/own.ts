// Implements the `kv` host calls of a run. Writes are staged with the other effects of the run. Values are passed as JSON text, and are
// read and parsed only where needed.
import type { Staging } from '../../../kernel/changes/staging.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import {
  changeValue,
  deltaOf,
  findEntry,
  findMeta,
  idOfKey,
  installBytesMax,
  isValue,
  kvModelName,
  unchangedOp,
  usageOf,
  valueAsRead,
  valueBytesMax,
  type KvEntry,
  type KvMeta,
  isSameJson,
} from './entries.ts';

/** Error for a value that cannot be written; the guest receives `code` and message. */
export class ValueError extends Error {
  readonly code: 'validation_failed' | 'quota_exceeded';
  constructor(code: ValueError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export interface OwnValues {
  /** Returns JSON text; null if there is no value. */
  get(key: string): Promise<string | null>;
  /** @throws ValueError */
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** @throws ValueError */
  increment(key: string, by: unknown): Promise<number>;
  /** @throws ValueError */
  compareAndSet(key: string, expected: unknown, value: unknown): Promise<boolean>;
  /** Records a read of the whole key list; call before listing. */
  noteList(): Promise<void>;
}

/** Reads and writes of one run, which sees its own writes. */
interface ValueAccess {
  /** Returns JSON text; null if there is no value. */
  get(key: string): Promise<string | null> | string | null;
  has(key: string): Promise<boolean> | boolean;
  /** True if the value is this JSON; a missing value is `null`. */
  holds(key: string, json: string): Promise<boolean> | boolean;
  /**
   * @param json null to delete the value
   * @param args arguments of the operation
   * @throws ValueError
   */
  write(key: string, json: string | null, operation: string, args: readonly unknown[]): Promise<void> | void;
}

/** Returns the operations on values. Live runs and trials have them in common. */
export function valueOperations({ get, has, holds, write }: ValueAccess): Omit<OwnValues, 'noteList'> {
  return {
    get: async (key) => get(key),
    set: async (key, value) => write(key, jsonOf(value), 'kv.set', [key, value]),
    async delete(key) {
      if (await has(key)) await write(key, null, 'kv.delete', [key]);
    },
    async increment(key, by) {
      const current: unknown = JSON.parse((await get(key)) ?? '0') ?? 0;
      if (typeof by !== 'number' || typeof current !== 'number')
        throw new ValueError(
          'validation_failed',
          'The stored value and the increment must be numbers. Set a number first.',
        );
      await write(key, jsonOf(current + by), 'kv.increment', [key, by]);
      return current + by;
    },
    async compareAndSet(key, expected, value) {
      const isSame = await holds(key, jsonOf(expected));
      if (isSame) await write(key, jsonOf(value), 'kv.compareAndSet', [key, expected, value]);
      return isSame;
    },
  };
}

/** @throws ValueError */
export function requireValueSize(bytes: number): void {
  if (bytes > valueBytesMax)
    throw new ValueError(
      'validation_failed',
      `A value can have at most ${valueBytesMax} bytes of JSON. Split it into several keys.`,
    );
}

export function quotaExceeded(): ValueError {
  return new ValueError(
    'quota_exceeded',
    `A plugin can store at most ${installBytesMax} bytes, including writes of this run. Delete keys that are no longer needed.`,
  );
}

export interface OwnValuesOptions {
  readonly store: Store;
  readonly nowMs: () => number;
  readonly scope: Scope;
  readonly installId: string;
  readonly staged: Staging;
}

export function ownValues(options: OwnValuesOptions): OwnValues {
  const { store, scope, installId, staged } = options;
  const { get, metaOf, holds } = readingOf(options);

  const write: ValueAccess['write'] = async (key, valueJson, operation, args) => {
    const meta = await metaOf(key);
    const usage = await usageOf(store, scope, installId);
    const at = { nowMs: options.nowMs(), newVersion: usage.version };
    const change = changeValue(meta, { installId, key }, valueJson, at);
    requireValueSize(change.after.bytes);
    const delta = deltaOf(meta, change.after);
    if (delta > 0 && usage.bytes + stagedBytes(staged) + delta > installBytesMax) throw quotaExceeded();
    staged.add([change], { operation, input: { args }, ids: [] });
  };

  const has = async (key: string): Promise<boolean> => (await metaOf(key)) !== null;
  return { ...valueOperations({ get, has, holds, write }), noteList: () => noteList(options) };
}

/** Reads stored values overlaid with the staged writes of this run, and records the reads. */
function readingOf({ store, scope, installId, staged }: OwnValuesOptions) {
  const stagedOf = (key: string): KvEntry | undefined =>
    staged.find(kvModelName, idOfKey(installId, key)) as KvEntry | undefined;
  const noted = <M extends KvMeta | null>(key: string, meta: M): M => {
    staged.reads?.row(valueAsRead, kvModelName, idOfKey(installId, key), meta?.version ?? null);
    return meta;
  };
  /** Returns the entry as a later write of this run finds it: a staged entry counts as stored. */
  const metaOf = async (key: string): Promise<KvMeta | null> => {
    const own = stagedOf(key);
    if (own) return own.valueJson === null ? null : own;
    return noted(key, await findMeta(store, scope, installId, key));
  };
  return {
    metaOf,
    async get(key: string): Promise<string | null> {
      const own = stagedOf(key);
      if (own) return own.valueJson;
      return noted(key, await findEntry(store, scope, installId, key))?.valueJson ?? null;
    },
    async holds(key: string, expectedJson: string): Promise<boolean> {
      const own = stagedOf(key);
      if (own) return isSameJson(own.valueJson ?? 'null', expectedJson);
      const meta = await metaOf(key);
      return meta ? isValue(store, scope, meta, expectedJson) : expectedJson === 'null';
    },
  };
}

async function noteList({ store, scope, installId, staged: { reads } }: OwnValuesOptions): Promise<void> {
  if (!reads) return;
  const usage = await usageOf(store, scope, installId);
  reads.other('kv', (guarded) => unchangedOp(guarded, installId, usage));
}

/** Returns the bytes that the staged writes of a run add to the usage of its install. */
function stagedBytes(staged: Staging): number {
  return staged.changes
    .filter(({ kind }) => kind === kvModelName)
    .reduce((sum, { before, after }) => sum + deltaOf(before as KvMeta | null, after as KvEntry), 0);
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value ?? null);
}
