// Identifiers: a prefix that names the kind and a time-ordered opaque suffix, so that newer rows sort after older ones.
// The suffix follows the layout of UUIDv7 (RFC 9562 §5.7) in Crockford base 32: 48 bits of time, a counter, 65 random bits.

import { createHash } from 'node:crypto';

/** The prefixes of rows that belong to no resource; those of resources stand in their contracts. */
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
  /** A client of OAuth that registered itself. */
  client: 'reg',
} as const;

/** 26 characters after the prefix: what `pattern` in schemas checks. */
export function patternOf(prefix: string): string {
  return `^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`;
}

export interface Ids {
  /** A new id of that prefix, a UUID where it is null; those of one prefix are strictly increasing within a process. */
  next(prefix: string | null): string;
  /** A version-7 UUID, for workspaces and teams (docs/spec/api.md › Ids). */
  uuid(): string;
}

/** Keeps what it makes. @param again what it made before, in order: it makes these first */
export function keptIds(
  ids: Ids,
  again: readonly string[] = [],
): { readonly ids: Ids; readonly made: readonly string[] } {
  const made: string[] = [];
  const kept = (make: () => string): string => {
    const id = again[made.length] ?? make();
    made.push(id);
    return id;
  };
  return {
    ids: { next: (prefix) => kept(() => ids.next(prefix)), uuid: () => kept(() => ids.uuid()) },
    made,
  };
}

/** Characters of a suffix that hold its time and counter, and those of its random part. */
const orderChars = 13;

/**
 * The id of what one thing means for another (an event for an install), so that whoever works it out again finds the same. It
 * sorts as `from` does.
 */
export function derivedId(prefix: string, from: string, by: string): string {
  const order = from.slice(from.indexOf('_') + 1).slice(0, orderChars);
  const digest = createHash('sha256').update(`${from} ${by}`).digest();
  return `${prefix}_${order}${letters(digest.subarray(0, randomChars))}`;
}

/** No id of that prefix which was made at that moment or later sorts before it. */
export function firstIdOf(prefix: string, timeMs: number): string {
  return `${prefix}_${encode(Math.max(0, timeMs), timeChars)}`;
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const timeChars = 10;
const randomChars = 13;
const counterLimit = 1 << 15;

export interface RandomBytes {
  (bytes: Uint8Array): void;
}

/** @param random fills a buffer with random bytes; injected so that a test can replay a run from its seed. */
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
    const tail = letters(pool.subarray(used, used + randomChars));
    used += randomChars;
    return time + encode(counter, 3) + tail;
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

/** One for each byte, of which five bits count. */
function letters(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += alphabet[byte & 31];
  return text;
}

/** RFC 9562 §5.7. */
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
