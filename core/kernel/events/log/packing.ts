// Storage format of an event's cause and data: one compressed text, stored once for all events of a change
// that share it; two plain texts if they are short. Old events may be in an archive file. Commit-assigned
// values are stored apart from the data.
import type { Cause } from '../event.ts';

/** Cause and data of an event, as JSON. */
export interface Parts {
  /** Made by `causeText`. */
  readonly cause: string;
  readonly data: string;
}

interface StoredData {
  data_json: string;
}

export interface StoredParts extends StoredData {
  cause_json: string;
  packed: Uint8Array | ArrayBuffer | null;
}

/** Minimum length of compressed texts, in characters: shorter ones hardly compress. */
const packedCharsMin = 300;
/** Fastest level: higher levels cost more time than the saved bytes are worth. */
const level = 1;
/** Separator of the parts, which do not contain it: JSON escapes line feeds. */
const between = '\n';

const empty = { cause_json: '', data_json: '' };

export function pack(parts: Parts): StoredParts & { readonly packed: Uint8Array | null } {
  const { cause, data } = parts;
  const plain = { cause_json: cause, data_json: data, packed: null };
  if (cause.length + data.length < packedCharsMin) return plain;
  const text = Buffer.from(cause + between + data);
  const packed = Bun.zstdCompressSync(text, { level });
  return packed.length < text.length ? { ...empty, packed } : plain;
}

/** Returns an empty text for an event that is its own root, which is the common case. */
export function causeText(cause: Cause, eventId: string): string {
  const { rootEventId, parentRunId, depth, path } = cause;
  const isOwnRoot = rootEventId === eventId && parentRunId === null && depth === 0 && path.length === 0;
  return isOwnRoot ? '' : JSON.stringify(cause);
}

export function causeOf(text: string, eventId: string): Cause {
  if (text === '') return { rootEventId: eventId, parentRunId: null, depth: 0, path: [] };
  return JSON.parse(text) as Cause;
}

/** @param distance number of events back to the one that stores the same parts, packed */
export function sameAs(distance: number): ReturnType<typeof pack> {
  return { ...empty, data_json: `=${distance}`, packed: null };
}

/** Returns true if the row stores the parts. JSON starts with neither `=` nor `@`. */
export const isHere = ({ data_json: data }: StoredData): boolean => !/^[=@]/.test(data);

/** Returns the number of events back to the one that stores the parts; 0 if this event stores them. */
export function distanceOf({ data_json: data }: StoredData): number {
  return data.startsWith('=') ? Number(data.slice(1)) : 0;
}

/** Returns the first sequence of the archive file that stores the parts; null if the database stores them. */
export function fileOf({ data_json: data }: StoredData): number | null {
  return data.startsWith('@') ? Number(data.slice(1)) : null;
}

/** @throws Error if the parts are stored elsewhere or damaged */
export function unpack(stored: StoredParts): Parts {
  if (!isHere(stored))
    throw new Error(
      'The parts of this event are stored with an earlier event or in an archive file. Read them from there.',
    );
  if (stored.packed === null) return { cause: stored.cause_json, data: stored.data_json };
  const text = Bun.zstdDecompressSync(stored.packed).toString();
  const end = text.indexOf(between);
  if (end < 0) throw new Error('The packed parts of this event are incomplete.');
  return { cause: text.slice(0, end), data: text.slice(end + between.length) };
}
