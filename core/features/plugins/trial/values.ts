// Simulates the stored values of a plugin during trials, in memory. The values start empty or as a copy, and
// only successful runs change them. Runs may be concurrent, so each run records its reads and is repeated if
// an earlier run changed them.
import type { Outcome } from '../../../kernel/http/values.ts';
import { limitDefault } from '../../../platform/lib/schema.ts';
import { installBytesMax, isSameJson } from '../kv/entries.ts';
import { quotaExceeded, requireValueSize, valueOperations, type OwnValues } from '../kv/own.ts';

export interface RunValues extends OwnValues {
  /** Returns the answer to `plugins.kv.list`. */
  listed(query: Readonly<Record<string, unknown>>): Outcome<string>;
  /** True if another run has meanwhile committed a change that this run depends on. */
  isStale(): boolean;
  /** Makes the writes of a successful run visible to later runs. */
  commit(): void;
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
  return () => runValues(stored);
}

function runValues(stored: StoredValues): RunValues {
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
  const get = (key: string): string | null => {
    const text = draftText(key);
    if (!written.has(key) && !seen.has(key)) seen.set(key, text);
    return text;
  };
  const write = (key: string, text: string | null): void => {
    requireValueSize(sizeOf(text));
    const after = bytes + sizeOf(text) - sizeOf(draftText(key));
    isRefused ||= after > installBytesMax;
    if (after > installBytesMax) throw quotaExceeded();
    bytes = after;
    written.set(key, text);
  };

  return {
    ...valueOperations({
      get,
      has: (key) => get(key) !== null,
      holds: (key, json) => isSameJson(get(key) ?? 'null', json),
      write,
    }),
    // `listed` records the read.
    noteList: () => Promise.resolve(),
    listed(query) {
      isListed = true;
      const keys = [...new Set([...stored.texts.keys(), ...written.keys()])];
      return listed(new Map(keys.map((key) => [key, draftText(key)])), query);
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

function listed(
  texts: ReadonlyMap<string, string | null>,
  { prefix, after, cursor, limit }: Readonly<Record<string, unknown>>,
): Outcome<string> {
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
  const all = [...texts]
    .flatMap(([key, text]) => (text === null ? [] : [{ key, bytes: sizeOf(text) }]))
    .filter(({ key }) => key.startsWith(textOf(prefix)) && key > textOf(after ?? cursor))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const data = all.slice(0, Number(limit ?? limitDefault));
  const pageInfo = { hasNextPage: all.length > data.length, endCursor: data.at(-1)?.key ?? null };
  const body = JSON.stringify({ data, pageInfo });
  const plain = { version: undefined, location: undefined, isReplay: false };
  return { requestId: '', error: null, status: 200, body, ...plain };
}

const sizeOf = (text: string | null): number => (text === null ? 0 : Buffer.byteLength(text));
