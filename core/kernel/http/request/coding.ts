// Content codings (RFC 9110 §8.4): negotiation, compression and decompression. Threads of the runtime process large bodies, in a fair
// queue, so that neither a long list nor a body that expands to gigabytes blocks the event loop.
import { promisify } from 'node:util';
import { constants, gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { FairPool } from '../../../platform/lib/fairness/fair-queue.ts';
import { tooLarge } from '../../../platform/lib/json/json-value.ts';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';

/** Supported codings, in order of preference. */
export const codings = ['zstd', 'gzip'] as const;
export type Coding = (typeof codings)[number];
type Bytes = Uint8Array<ArrayBuffer>;

/** Codings for the bodies of requests, as `Accept-Encoding` in a response lists them (RFC 9110 §12.5.3). */
const takenCodings = 'gzip, zstd';

/** Minimum length of compressed responses, in characters: shorter ones fit into one packet. */
export const codedFrom = 1024;
/**
 * Minimum length of texts that threads compress, in characters: shorter ones take at most half a millisecond.
 */
const longFrom = 64 * 1024;

/** Higher levels hardly improve the ratio and take longer: gzip takes six times as long at 6. docs/decisions/0036. */
const zstdLevel = 3;
const gzipLevel = 4;
/** Largest window for HTTP (RFC 9659): 8 MiB, as a power of two. */
const windowLogMax = 23;

/**
 * Returns the coding that `Accept-Encoding` prefers (RFC 9110 §12.5.3); the first of `codings` among equally
 * preferred ones; null for none.
 */
export function codingFor(accepted: string | null): Coding | null {
  if (accepted === null) return null;
  const weights = weightsOf(accepted);
  const weightOf = (coding: Coding): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const [zstd, gzip] = codings;
  const best = weightOf(gzip) > weightOf(zstd) ? gzip : zstd;
  const most = weightOf(best);
  return most > 0 && most >= (weights.get('identity') ?? 0) ? best : null;
}

/** Returns the weights in `Accept-Encoding` by coding. An entry without a weight has weight 1. */
function weightsOf(accepted: string): ReadonlyMap<string, number> {
  return new Map(
    accepted
      .toLowerCase()
      .split(',')
      .map((entry) => {
        const [name = '', weight] = entry.split(/;\s*q=/, 2).map((part) => part.trim());
        return [name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number(weight) || 0];
      }),
  );
}

/** Returns the coding of a request body; null if it is uncompressed. @throws ApiError unsupported_media_type */
export function codingOf({ headers }: Request): Coding | null {
  const contentCoding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (contentCoding === '' || contentCoding === 'identity') return null;
  const coding = codings.find((one) => one === contentCoding || `x-${one}` === contentCoding);
  if (coding) return coding;
  throw new ApiError(
    'unsupported_media_type',
    'This Content-Encoding is not supported. Send the body uncompressed, or compressed once with gzip or zstd.',
    { headers: { 'accept-encoding': takenCodings } },
  );
}

export const isLong = (text: string): boolean => text.length >= longFrom;

/** Compresses and decompresses in threads. */
export interface Coder {
  encode(billingAccount: BillingAccount, text: string, coding: Coding): Promise<Bytes>;
  /** Returns the decompressed bytes, at most `bytesMax`. @throws ApiError payload_too_large, malformed_request */
  decode(
    billingAccount: BillingAccount,
    coded: Uint8Array,
    coding: Coding,
    bytesMax: number,
  ): Promise<Uint8Array>;
}

export function createCoder(fairPool: FairPool): Coder {
  return {
    encode: (billingAccount, text, coding) => fairPool.run(billingAccount, () => encodeAside(text, coding)),
    decode: (billingAccount, coded, coding, bytesMax) =>
      fairPool.run(billingAccount, () => decodeAside(coded, coding, bytesMax)),
  };
}

/** Compresses a short text on the event loop. */
export function encodeNow(text: string, coding: Coding): Bytes {
  return coding === 'zstd'
    ? new Uint8Array(Bun.zstdCompressSync(text, { level: zstdLevel }))
    : Bun.gzipSync(text, { level: gzipLevel });
}

/** Compresses in a thread. @param levels higher for bodies that are sent many times */
export async function encodeAside(
  text: string | Bytes,
  coding: Coding,
  levels = { zstd: zstdLevel, gzip: gzipLevel },
): Promise<Bytes> {
  const compressed = await (coding === 'zstd'
    ? promisify(zstdCompress)(text, { params: { [constants.ZSTD_c_compressionLevel]: levels.zstd } })
    : promisify(gzip)(text, { level: levels.gzip }));
  return new Uint8Array(compressed);
}

// Checks that bytes consist of complete Zstandard frames (RFC 8878 §3.1). The decoder of the runtime does not: it accepts a frame that
// ends too early, and bytes after the last one.

const frameMagic = 0xfd2fb528;
/** Magic number of skippable frames, whose last four bits may have any value. */
const skippableMagic = 0x184d2a50;
const headerBytes = { magic: 4, descriptor: 1, block: 3, skippable: 8, checksum: 4 } as const;
/** Sizes in bytes of the dictionary id and of the content size, by the value of their flags. */
const dictionaryBytes = [0, 1, 2, 4] as const;
const contentSizeBytes = [0, 2, 4, 8] as const;
const blockTypes = { raw: 0, repeated: 1, compressed: 2, reserved: 3 } as const;

/** Reads only the headers; the decoder checks the content of the blocks. */
function isWholeZstd(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at < bytes.length) {
    const end = endOfFrame(view, at);
    if (end === null || end > bytes.length) return false;
    at = end;
  }
  return bytes.length > 0;
}

/** Returns the offset of the next frame, which may be past the last byte; null if it cannot be determined. */
function endOfFrame(view: DataView, start: number): number | null {
  const left = view.byteLength - start;
  if (left < headerBytes.magic + headerBytes.descriptor) return null;
  const magic = view.getUint32(start, true);
  if ((magic & ~0xf) >>> 0 === skippableMagic)
    return left < headerBytes.skippable
      ? null
      : start + headerBytes.skippable + view.getUint32(start + headerBytes.magic, true);
  if (magic !== frameMagic) return null;
  const descriptor = view.getUint8(start + headerBytes.magic);
  const end = endOfBlocks(view, start + headerBytes.magic + headerBytes.descriptor + fieldsOf(descriptor));
  const hasChecksum = (descriptor & 0b100) !== 0;
  return end === null ? null : end + (hasChecksum ? headerBytes.checksum : 0);
}

/** Returns the number of bytes in the frame header after its descriptor. */
function fieldsOf(descriptor: number): number {
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const sizeFlag = (descriptor >> 6) as 0 | 1 | 2 | 3;
  const idFlag = (descriptor & 0b11) as 0 | 1 | 2 | 3;
  // A single segment has no window descriptor, and always states its content size.
  const window = isSingleSegment ? 0 : 1;
  const contentSize = isSingleSegment && sizeFlag === 0 ? 1 : contentSizeBytes[sizeFlag];
  return window + dictionaryBytes[idFlag] + contentSize;
}

function endOfBlocks(view: DataView, start: number): number | null {
  let at = start;
  for (;;) {
    if (at + headerBytes.block > view.byteLength) return null;
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    const type = (header >> 1) & 0b11;
    if (type === blockTypes.reserved) return null;
    at += headerBytes.block + (type === blockTypes.repeated ? 1 : header >>> 3);
    if ((header & 1) !== 0) return at;
  }
}

async function decodeAside(coded: Uint8Array, coding: Coding, bytesMax: number): Promise<Uint8Array> {
  try {
    if (coding === 'gzip') return await promisify(gunzip)(coded, { maxOutputLength: bytesMax });
    const bytes = await promisify(zstdDecompress)(coded, {
      maxOutputLength: bytesMax,
      params: { [constants.ZSTD_d_windowLogMax]: windowLogMax },
    });
    if (!isWholeZstd(coded)) throw new Error('The body does not end at the end of a frame.');
    return bytes;
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(bytesMax);
    throw new ApiError(
      'malformed_request',
      `The body is not a complete ${coding} stream. Compress it again, or send it without Content-Encoding.`,
      { cause: error },
    );
  }
}
