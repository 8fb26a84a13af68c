// Ids: a prefix that names the entity and a time-ordered opaque suffix, so that newer rows sort after older ones. The suffix
// follows the layout of UUIDv7 (RFC 9562 §5.7) in Crockford base 32: 48 bits of time, a counter, 65 random bits.

import { createHash } from 'node:crypto';

/** Id prefixes of rows that belong to no resource; those of resources are in their contracts. */
export const idPrefixes = {
  event: 'evt',
  request: 'req',
  delivery: 'dlv',
  replay: 'rpl',
  run: 'run',
  gap: 'gap',
  undo: 'und',
  pluginVersion: 'plv',
  backtest: 'bkt',
  /** An OAuth client that registered itself. */
  client: 'reg',
} as const;

/** Returns the `pattern` of ids for schemas: 26 characters after the prefix. */
export function patternOf(prefix: string): string {
  return `^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`;
}

/** Team keys (ENG) and issue identifiers (ENG-42) are stored in upper case and matched case-insensitively. */
const teamKey = '[A-Z][A-Z0-9]{0,9}';
const teamKeyInAnyCase = '[A-Za-z][A-Za-z0-9]{0,9}';

/** Pattern of the key of a new team. */
export const teamKeyPattern = `^${teamKey}$`;
export const teamKeyInputPattern = `^${teamKeyInAnyCase}$`;
export const identifierInputPattern = `^${teamKeyInAnyCase}-[1-9][0-9]{0,9}$`;

export interface Ids {
  /** Returns a new id; a UUID if `prefix` is null. Ids of one prefix strictly increase within a process. */
  next(prefix: string | null): string;
  /** Returns a version-7 UUID, for workspaces and teams (docs/spec/api.md › Ids). */
  uuid(): string;
}

/** Records the created ids. @param again ids recorded earlier, returned first and in order */
export function recordingIds(
  ids: Ids,
  again: readonly string[] = [],
): { readonly ids: Ids; readonly created: readonly string[] } {
  const created: string[] = [];
  const record = (make: () => string): string => {
    const id = again[created.length] ?? make();
    created.push(id);
    return id;
  };
  return {
    ids: { next: (prefix) => record(() => ids.next(prefix)), uuid: () => record(() => ids.uuid()) },
    created,
  };
}

/** Characters of a suffix that encode the time and the counter. */
const orderChars = 13;

/** Returns a deterministic id for a pair, such as an event and an installation. The id sorts like `from`. */
export function derivedId(prefix: string, from: string, by: string): string {
  const order = from.slice(from.indexOf('_') + 1).slice(0, orderChars);
  const digest = createHash('sha256').update(`${from} ${by}`).digest();
  return `${prefix}_${order}${letters(digest, 0)}`;
}

/** Returns a lower bound of the ids of a prefix that are created at `timeMs` or later. */
export function firstIdOf(prefix: string, timeMs: number): string {
  return `${prefix}_${encode(Math.max(0, timeMs), timeChars)}`;
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
/** All texts of two letters, by value: ids are built from them, in half the steps. */
const pairs = Array.from({ length: 1024 }, (_, value) => alphabet[value >> 5]! + alphabet[value & 31]!);
const timeChars = 10;
const randomChars = 13;
const counterLimit = 1 << 15;

export interface RandomBytes {
  (bytes: Uint8Array): void;
}

/** @param random fills a buffer with random bytes; injected so that a test can replay a run from its seed */
export function createIds(
  nowMs: () => number,
  random: RandomBytes = (bytes) => void crypto.getRandomValues(bytes),
): Ids {
  const pool = new Uint8Array(randomChars * 64);
  let used = pool.length;
  let lastMs = 0;
  let counter = 0;
  let time = '';

  const suffix = (): string => {
    const now = nowMs();
    if (now > lastMs || counter + 1 >= counterLimit) {
      lastMs = now > lastMs ? now : lastMs + 1;
      counter = 0;
      time = encode(lastMs, timeChars);
    } else counter++;
    if (used === pool.length) {
      random(pool);
      used = 0;
    }
    const tail = letters(pool, used);
    used += randomChars;
    return time + alphabet[counter >> 10]! + pairs[counter & 1023]! + tail;
  };

  const uuid = (): string => {
    const bytes = new Uint8Array(16);
    random(bytes);
    return uuidOf(bytes, nowMs());
  };
  return {
    next: (prefix) => (prefix === null ? uuid() : `${prefix}_${suffix()}`),
    uuid,
  };
}

/** Encodes the low five bits of each of `randomChars` bytes as one letter. */
function letters(bytes: Uint8Array, from: number): string {
  let text = '';
  const last = from + randomChars - 1;
  for (let at = from; at < last; at += 2) text += pairs[((bytes[at]! & 31) << 5) | (bytes[at + 1]! & 31)]!;
  return text + alphabet[bytes[last]! & 31]!;
}

/** Returns a version-7 UUID (RFC 9562 §5.7). @param bytes 16 random bytes, modified in place */
function uuidOf(bytes: Uint8Array<ArrayBuffer>, nowMs: number): string {
  new DataView(bytes.buffer).setUint32(0, Math.floor(nowMs / 0x10000));
  new DataView(bytes.buffer).setUint16(4, nowMs % 0x10000);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function encode(value: number, length: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < length; i++) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

const anyId = /[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}/g;

export type Mentions = (text: string) => boolean;

/** Linear in the length of the text, regardless of the number of ids. */
export function mentionsOf(ids: ReadonlySet<string>): Mentions {
  return (text) => {
    for (const [id] of text.matchAll(anyId)) if (ids.has(id)) return true;
    return false;
  };
}
