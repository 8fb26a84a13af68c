// How the long parts of an event rest: cause and data as one compressed text, once for the events of a change that share them. Events of
// an earlier version have them as two texts, and old ones may have them in a file.
import type { Cause } from './origin.ts';

/** As JSON. */
export interface Parts {
  /** By `causeText`. */
  readonly cause: string;
  readonly data: string;
}

/** The columns that hold them. */
export interface StoredParts {
  cause_json: string;
  data_json: string;
  packed: Uint8Array | ArrayBuffer | null;
}

/** Shorter ones would hardly become shorter (characters). */
const packedCharsMin = 300;
/** The quickest: the next ones take more time than they save bytes. */
const level = 1;
/** JSON writes it as two other characters, so that it stands in none of the parts. */
const between = '\n';

export function pack(parts: Parts): StoredParts & { readonly packed: Uint8Array | null } {
  const { cause, data } = parts;
  const plain = { cause_json: cause, data_json: data, packed: null };
  if (cause.length + data.length < packedCharsMin) return plain;
  const text = Buffer.from(cause + between + data);
  const packed = Bun.zstdCompressSync(text, { level });
  return packed.length < text.length ? { ...empty, packed } : plain;
}

const empty = { cause_json: '', data_json: '' };

/** Empty where an event is its own root, which most are. */
export function causeText(cause: Cause, eventId: string): string {
  const { rootEventId, parentRunId, depth, path } = cause;
  const isOwnRoot = rootEventId === eventId && parentRunId === null && depth === 0 && path.length === 0;
  return isOwnRoot ? '' : JSON.stringify(cause);
}

export function causeOf(text: string, eventId: string): Cause {
  if (text === '') return { rootEventId: eventId, parentRunId: null, depth: 0, path: [] };
  return JSON.parse(text) as Cause;
}

/** @param distance how many events before it the one is that has the same parts, packed */
export function sameAs(distance: number): ReturnType<typeof pack> {
  return { ...empty, data_json: `=${distance}`, packed: null };
}

/** JSON begins with neither sign. */
export const isHere = ({ data_json: data }: Pick<StoredParts, 'data_json'>): boolean => !/^[=@]/.test(data);

/** How many events before it the one is that has its parts; 0 where it has them itself. */
export function distanceOf({ data_json: data }: Pick<StoredParts, 'data_json'>): number {
  return data.startsWith('=') ? Number(data.slice(1)) : 0;
}

/** The event that the file begins with which has its parts; null where the database has them. */
export function fileOf({ data_json: data }: Pick<StoredParts, 'data_json'>): number | null {
  return data.startsWith('@') ? Number(data.slice(1)) : null;
}

/** @throws Error where they are another event's, or damaged */
export function unpack(stored: StoredParts): Parts {
  if (!isHere(stored)) throw new Error('The parts of this event rest elsewhere.');
  if (stored.packed === null) return { cause: stored.cause_json, data: stored.data_json };
  const text = Bun.zstdDecompressSync(stored.packed).toString();
  const end = text.indexOf(between);
  if (end < 0) throw new Error('The packed parts of an event are not whole.');
  return { cause: text.slice(0, end), data: text.slice(end + between.length) };
}
