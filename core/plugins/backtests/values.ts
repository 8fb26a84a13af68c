// A plugin's own values while it is tried: they begin empty, or as they were, are carried from event to event in memory, and are gone with
// the trial. A run that fails leaves none. Runs may be under way beside each other: what one has read is known, so that it can be made
// again where a run before it has changed that since.
import type { Outcome } from '../../http/values.ts';
import { limitDefault } from '../../lib/schema.ts';
import { installBytesMax, valueBytesMax } from '../kv/entries.ts';
import { ValueError, type OwnValues } from '../kv/own.ts';
import { isSameJson } from '../kv/same-json.ts';

export interface RunValues extends OwnValues {
  /** The answer to a list of keys. */
  listed(query: Readonly<Record<string, unknown>>): Outcome<string>;
  /** Whether a run that kept its values meanwhile would have made this one go another way. */
  isStale(): boolean;
  /** The run succeeded: the next one finds them. */
  keep(): void;
}

/** What is kept between runs. */
interface Kept {
  readonly texts: Map<string, string>;
  bytes: number;
  /** How often something was kept. */
  revision: number;
}

/** @param texts what they begin with, by key. @returns the values as one run after the other sees them */
export function createValues(texts = new Map<string, string>()): () => RunValues {
  const bytes = [...texts.values()].reduce((sum, value) => sum + sizeOf(value), 0);
  const kept: Kept = { texts, bytes, revision: 0 };
  return () => runValues(createDraft(kept));
}

function runValues({ textOf, write, keys, isStale, keep }: Draft): RunValues {
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
      const isSame = isSameJson(textOf(key) ?? 'null', jsonOf(expected));
      if (isSame) write(key, jsonOf(value));
      return isSame;
    },
    // What was listed is known by the revision.
    noteList: () => Promise.resolve(),
    listed: (query) => listed(keys(), query),
    isStale,
    keep,
  };
}

/** What one run has read and written. */
interface Draft extends Pick<RunValues, 'isStale' | 'keep'> {
  textOf(key: string): string | null;
  /** @throws {ValueError} where it is too large, or no room is left */
  write(key: string, text: string | null): void;
  keys(): Key[];
}

function createDraft(kept: Kept): Draft {
  const written = new Map<string, string | null>();
  /** What it was shown, by key. */
  const seen = new Map<string, string | null>();
  const begun = { bytes: kept.bytes, revision: kept.revision };
  let { bytes } = begun;
  let isListed = false;
  let isRefused = false;
  const keptText = (key: string): string | null => kept.texts.get(key) ?? null;
  const draftText = (key: string): string | null => (written.has(key) ? written.get(key)! : keptText(key));
  /** With what this run has written. */
  const bytesThen = (): number =>
    [...written].reduce((sum, [key, text]) => sum + sizeOf(text) - sizeOf(keptText(key)), kept.bytes);

  return {
    textOf(key) {
      const text = draftText(key);
      if (!written.has(key) && !seen.has(key)) seen.set(key, text);
      return text;
    },
    write(key, text) {
      if (sizeOf(text) > valueBytesMax)
        throw new ValueError('validation_failed', `A value takes at most ${valueBytesMax} bytes of JSON.`);
      const after = bytes + sizeOf(text) - sizeOf(draftText(key));
      if (after > installBytesMax) {
        isRefused = true;
        throw new ValueError('quota_exceeded', noRoom);
      }
      bytes = after;
      written.set(key, text);
    },
    keys() {
      isListed = true;
      return [...new Set([...kept.texts.keys(), ...written.keys()])].flatMap((key) => {
        const text = draftText(key);
        return text === null ? [] : [{ key, bytes: sizeOf(text) }];
      });
    },
    isStale() {
      if (kept.revision === begun.revision) return false;
      if (isListed || [...seen].some(([key, text]) => keptText(key) !== text)) return true;
      return isRefused ? kept.bytes !== begun.bytes : bytesThen() > installBytesMax;
    },
    keep() {
      kept.bytes = bytesThen();
      if (written.size > 0) kept.revision++;
      for (const [key, text] of written)
        if (text === null) kept.texts.delete(key);
        else kept.texts.set(key, text);
    },
  };
}

const noRoom = `A plugin keeps at most ${installBytesMax} bytes, what this run has written included; delete some keys.`;

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
