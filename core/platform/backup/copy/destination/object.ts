// Encodes the objects of a copy: a line with the SHA-256 of the rest, a line of JSON, and the compressed
// payload, so that each object can be verified without the others.

import type { LogHead } from '../../../store/log-head.ts';

interface SegmentPart {
  readonly kind: 'segment';
  readonly chain: string;
  readonly index: number;
  readonly part: number;
  readonly parts: number;
  readonly timeMs: number;
  /** Log head after the segment; null if there is none yet. */
  readonly head: LogHead | null;
  readonly pageBytes: number;
  /** Size of the database after the segment; null if nothing was committed. */
  readonly dbPages: number | null;
}

interface BasePart {
  readonly kind: 'base';
  readonly chain: string;
  readonly base: number;
  readonly part: number;
  /** Offset in the database file, in bytes. */
  readonly offset: number;
}

/** Manifest of a base, written after all its parts. */
export interface BaseManifest {
  readonly kind: 'manifest';
  readonly chain: string;
  readonly base: number;
  readonly parts: number;
  readonly fileBytes: number;
  /** Index of the first segment to apply. */
  readonly first: number;
  /** Index of the first segment after which the database is consistent. */
  readonly end: number;
  readonly beganMs: number;
  readonly endedMs: number;
}

/** First object of a chain. */
interface ChainHead {
  readonly kind: 'chain';
  readonly chain: string;
  readonly installation: string;
  readonly generation: string;
  readonly beganMs: number;
  /** Version of Tatami that started the chain. */
  readonly version: string;
}

export type ObjectHead = SegmentPart | BasePart | BaseManifest | ChainHead;

const newline = 0x0a;
const sumBytes = 64;

export async function encodeObject(
  head: ObjectHead,
  payload: Uint8Array = new Uint8Array(),
): Promise<Buffer> {
  const packed = payload.length === 0 ? payload : await Bun.zstdCompress(payload, { level: 1 });
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), packed]);
  return Buffer.concat([Buffer.from(`${sha256(content)}\n`), content]);
}

/** @throws Error if the object is damaged or of another kind */
export async function decodeObject<K extends ObjectHead['kind']>(
  kind: K,
  bytes: Uint8Array,
): Promise<{ head: Extract<ObjectHead, { kind: K }>; payload: Uint8Array }> {
  const content = bytes.subarray(sumBytes + 1);
  if (Buffer.from(bytes.subarray(0, sumBytes)).toString('latin1') !== sha256(content))
    throw new Error('the checksum is wrong');
  const end = content.indexOf(newline);
  const head = JSON.parse(new TextDecoder().decode(content.subarray(0, end))) as ObjectHead;
  if (!isKind(head, kind)) throw new Error(`the object is a ${head.kind} instead of a ${kind}`);
  const packed = content.subarray(end + 1);
  return { head, payload: packed.length === 0 ? packed : await Bun.zstdDecompress(packed) };
}

const isKind = <K extends ObjectHead['kind']>(
  head: ObjectHead,
  kind: K,
): head is Extract<ObjectHead, { kind: K }> => head.kind === kind;

const sha256 = (bytes: Uint8Array): string => new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
