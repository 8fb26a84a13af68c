// A plugin's own values while it is tried: they begin empty, or as they were, are carried from event to event in memory, and are gone with
// the trial. A run that fails leaves none.
import type { Outcome } from '../../http/values.ts';
import { limitDefault } from '../../lib/schema.ts';
import { installBytesMax, valueBytesMax } from '../kv/entries.ts';
import { ValueError, type OwnValues } from '../kv/own.ts';

export interface RunValues extends OwnValues {
  /** The answer to a list of keys. */
  listed(query: Readonly<Record<string, unknown>>): Outcome<string>;
  /** The run succeeded: the next one finds them. */
  keep(): void;
}

/** @param kept what they begin with, by key. @returns the values as one run after the other sees them */
export function createValues(kept = new Map<string, string>()): () => RunValues {
  let keptBytes = [...kept.values()].reduce((sum, value) => sum + sizeOf(value), 0);
  return () => {
    const written = new Map<string, string | null>();
    let bytes = keptBytes;
    const textOf = (key: string): string | null =>
      written.has(key) ? written.get(key)! : (kept.get(key) ?? null);
    const write = (key: string, value: string | null): void => {
      if (sizeOf(value) > valueBytesMax)
        throw new ValueError('validation_failed', `A value takes at most ${valueBytesMax} bytes of JSON.`);
      const after = bytes + sizeOf(value) - sizeOf(textOf(key));
      if (after > installBytesMax)
        throw new ValueError(
          'quota_exceeded',
          `A plugin keeps at most ${installBytesMax} bytes, what this run has written included; delete some keys.`,
        );
      bytes = after;
      written.set(key, value);
    };
    return {
      get: async (key) => textOf(key),
      set: async (key, value) => write(key, jsonOf(value)),
      async delete(key) {
        if (textOf(key) !== null) write(key, null);
      },
      async increment(key, by) {
        const current: unknown = JSON.parse(textOf(key) ?? '0') ?? 0;
        if (typeof by !== 'number' || typeof current !== 'number')
          throw new ValueError('validation_failed', 'Only numbers can be incremented.');
        write(key, jsonOf(current + by));
        return current + by;
      },
      async compareAndSet(key, expected, value) {
        const isSame = (textOf(key) ?? 'null') === jsonOf(expected);
        if (isSame) write(key, jsonOf(value));
        return isSame;
      },
      // Nobody else writes them.
      noteList: () => Promise.resolve(),
      listed: (query) =>
        listed(
          [...new Set([...kept.keys(), ...written.keys()])].flatMap((key) => {
            const text = textOf(key);
            return text === null ? [] : [{ key, bytes: sizeOf(text) }];
          }),
          query,
        ),
      keep() {
        keptBytes = bytes;
        for (const [key, value] of written)
          if (value === null) kept.delete(key);
          else kept.set(key, value);
      },
    };
  };
}

interface Key {
  readonly key: string;
  readonly bytes: number;
}

function listed(keys: readonly Key[], query: Readonly<Record<string, unknown>>): Outcome<string> {
  const [prefix, after] = [query.prefix, query.after ?? query.cursor].map((given) =>
    typeof given === 'string' ? given : '',
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
