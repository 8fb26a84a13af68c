// Simulates the stored values of a plugin during trials, in memory. The values start empty or as a copy, and
// only successful runs change them. Runs may be concurrent, so each run records its reads and is repeated if
// an earlier run changed them.
import type { Outcome } from '../../../kernel/http/values.ts';
import { limitDefault } from '../../../platform/lib/schema.ts';
import { installBytesMax, valueBytesMax, isSameJson } from '../kv/entries.ts';
import { ValueError, type OwnValues } from '../kv/own.ts';

interface RunCommit {
  /** True if another run has meanwhile committed a change that this run depends on. */
  isStale(): boolean;
  /** Makes the writes of a successful run visible to later runs. */
  commit(): void;
}

export interface RunValues extends OwnValues, RunCommit {
  /** Returns the answer to `plugins.kv.list`. */
  listed(query: Readonly<Record<string, unknown>>): Outcome<string>;
}

/** Values committed by successful runs. */
interface StoredValues {
  readonly texts: Map<string, string>;
  bytes: number;
  /** Number of commits that changed values. */
  revision: number;
}

/**
 * @param texts initial values as JSON, by key
 * @returns a function that begins a run
 */
export function createValues(texts = new Map<string, string>()): () => RunValues {
  const bytes = [...texts.values()].reduce((sum, value) => sum + sizeOf(value), 0);
  const stored: StoredValues = { texts, bytes, revision: 0 };
  return () => runValues(createDraft(stored));
}

function runValues({ textOf, write, keys, isStale, commit }: Draft): RunValues {
  return {
    get: async (key) => textOf(key),
    set: async (key, value) => write(key, jsonOf(value)),
    async delete(key) {
      if (textOf(key) !== null) write(key, null);
    },
    async increment(key, by) {
      const current: unknown = JSON.parse(textOf(key) ?? '0') ?? 0;
      if (typeof by !== 'number' || typeof current !== 'number')
        throw new ValueError(
          'validation_failed',
          'The stored value and the increment must be numbers. Set a number first.',
        );
      write(key, jsonOf(current + by));
      return current + by;
    },
    async compareAndSet(key, expected, value) {
      const isSame = isSameJson(textOf(key) ?? 'null', jsonOf(expected));
      if (isSame) write(key, jsonOf(value));
      return isSame;
    },
    // `listed` records the read.
    noteList: () => Promise.resolve(),
    listed: (query) => listed(keys(), query),
    isStale,
    commit,
  };
}

/** Reads and writes of one run. */
interface Draft extends RunCommit {
  textOf(key: string): string | null;
  /** @throws {ValueError} if the value is too large, or the quota is exceeded */
  write(key: string, text: string | null): void;
  keys(): Key[];
}

function createDraft(stored: StoredValues): Draft {
  const written = new Map<string, string | null>();
  /** Stored values that the run has read, by key. */
  const seen = new Map<string, string | null>();
  const begun = { bytes: stored.bytes, revision: stored.revision };
  let { bytes } = begun;
  let isListed = false;
  let isRefused = false;
  const storedText = (key: string): string | null => stored.texts.get(key) ?? null;
  const draftText = (key: string): string | null => (written.has(key) ? written.get(key)! : storedText(key));
  /** Returns the size of the present stored values with the writes of this run, in bytes. */
  const bytesThen = (): number =>
    [...written].reduce((sum, [key, text]) => sum + sizeOf(text) - sizeOf(storedText(key)), stored.bytes);

  return {
    textOf(key) {
      const text = draftText(key);
      if (!written.has(key) && !seen.has(key)) seen.set(key, text);
      return text;
    },
    write(key, text) {
      if (sizeOf(text) > valueBytesMax)
        throw new ValueError(
          'validation_failed',
          `A value can have at most ${valueBytesMax} bytes of JSON. Split it into several keys.`,
        );
      const after = bytes + sizeOf(text) - sizeOf(draftText(key));
      if (after > installBytesMax) {
        isRefused = true;
        throw new ValueError('quota_exceeded', quotaMessage);
      }
      bytes = after;
      written.set(key, text);
    },
    keys() {
      isListed = true;
      return [...new Set([...stored.texts.keys(), ...written.keys()])].flatMap((key) => {
        const text = draftText(key);
        return text === null ? [] : [{ key, bytes: sizeOf(text) }];
      });
    },
    isStale() {
      if (stored.revision === begun.revision) return false;
      if (isListed || [...seen].some(([key, text]) => storedText(key) !== text)) return true;
      return isRefused ? stored.bytes !== begun.bytes : bytesThen() > installBytesMax;
    },
    commit() {
      stored.bytes = bytesThen();
      if (written.size > 0) stored.revision++;
      for (const [key, text] of written)
        if (text === null) stored.texts.delete(key);
        else stored.texts.set(key, text);
    },
  };
}

const quotaMessage = `A plugin can store at most ${installBytesMax} bytes, including writes of this run. Delete keys that are no longer needed.`;

interface Key {
  readonly key: string;
  readonly bytes: number;
}

function listed(keys: readonly Key[], query: Readonly<Record<string, unknown>>): Outcome<string> {
  const [prefix, after] = [query.prefix, query.after ?? query.cursor].map((value) =>
    typeof value === 'string' ? value : '',
  ) as [string, string];
  const all = keys
    .filter(({ key }) => key.startsWith(prefix) && key > after)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const data = all.slice(0, Number(query.limit ?? limitDefault));
  const pageInfo = { hasNextPage: all.length > data.length, endCursor: data.at(-1)?.key ?? null };
  const body = JSON.stringify({ data, pageInfo });
  const plain = { version: undefined, location: undefined, isReplay: false };
  return { requestId: '', error: null, status: 200, body, ...plain };
}

const jsonOf = (value: unknown): string => JSON.stringify(value ?? null);
const sizeOf = (text: string | null): number => (text === null ? 0 : Buffer.byteLength(text));
