// What a copy is made of: objects that carry what they are and a checksum over all of it, so that each can be told whole by itself. A line
// with the SHA-256 of what follows, a line of JSON, and the payload compressed.

import type { LogHead } from '../../store/log-head.ts';

interface SegmentPart {
  readonly kind: 'segment';
  readonly chain: string;
  readonly index: number;
  readonly part: number;
  readonly parts: number;
  readonly timeMs: number;
  /** Of the event log after the segment; null where there is none yet. */
  readonly head: LogHead | null;
  readonly pageBytes: number;
  /** Size of the database after the segment; null where nothing was committed. */
  readonly dbPages: number | null;
}

interface BasePart {
  readonly kind: 'base';
  readonly chain: string;
  readonly base: number;
  readonly part: number;
  /** Where in the database file its bytes lie. */
  readonly offset: number;
}

/** Written behind all parts of a base. */
export interface BaseManifest {
  readonly kind: 'manifest';
  readonly chain: string;
  readonly base: number;
  readonly parts: number;
  readonly fileBytes: number;
  /** The segments from this one on are to be applied. */
  readonly first: number;
  /** Only with this one the database is whole. */
  readonly end: number;
  readonly beganMs: number;
  readonly endedMs: number;
}

/** Begins a chain. */
interface ChainHead {
  readonly kind: 'chain';
  readonly chain: string;
  readonly installation: string;
  readonly generation: string;
  readonly beganMs: number;
  /** The release that began it. */
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

/** @throws Error where it is not what was written */
export async function decodeObject<K extends ObjectHead['kind']>(
  kind: K,
  bytes: Uint8Array,
): Promise<{ head: Extract<ObjectHead, { kind: K }>; payload: Uint8Array }> {
  const content = bytes.subarray(sumBytes + 1);
  if (Buffer.from(bytes.subarray(0, sumBytes)).toString('latin1') !== sha256(content))
    throw new Error('its checksum is wrong');
  const end = content.indexOf(newline);
  const head = JSON.parse(new TextDecoder().decode(content.subarray(0, end))) as ObjectHead;
  if (!isKind(head, kind)) throw new Error(`it is a ${head.kind} in the place of a ${kind}`);
  const packed = content.subarray(end + 1);
  return { head, payload: packed.length === 0 ? packed : await Bun.zstdDecompress(packed) };
}

const isKind = <K extends ObjectHead['kind']>(
  head: ObjectHead,
  kind: K,
): head is Extract<ObjectHead, { kind: K }> => head.kind === kind;

const sha256 = (bytes: Uint8Array): string => new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
