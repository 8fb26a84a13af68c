// Content codings (RFC 9110 §8.4): which one an answer takes, and how bodies are coded and decoded. What is large is done by threads of the
// runtime, in turns, so that neither a long list nor a body that unfolds to gigabytes holds up the event loop.
import { promisify } from 'node:util';
import { constants, gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import { ApiError } from '../lib/errors.ts';
import type { Lanes } from '../lib/fairness/lanes.ts';
import { tooLarge } from '../lib/json-value.ts';
import type { Payer } from '../lib/payer.ts';
import { isWholeZstd } from './zstd-frames.ts';

/** Those there are, the better first. */
export const codings = ['zstd', 'gzip'] as const;
export type Coding = (typeof codings)[number];
type Bytes = Uint8Array<ArrayBuffer>;

/** What a request may be coded in, as the `Accept-Encoding` of an answer says it (RFC 9110 §12.5.3). */
const takenCodings = 'gzip, zstd';

/** Shorter answers fit into one packet as they are. */
export const codedFrom = 1024;
/** Up to here either coding takes half a millisecond at most; longer texts are left to threads. */
const longFrom = 64 * 1024;

/** Ratios hardly grow from here, and times do: gzip takes six times as long at 6. docs/decisions/0036. */
const zstdLevel = 3;
const gzipLevel = 4;
/** 8 MiB, which senders over HTTP must keep to (RFC 9659). */
const windowLogMax = 23;

/**
 * The coding that the caller prefers, by `Accept-Encoding` (RFC 9110 §12.5.3); null for none. Of equal ones the first of ours.
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

/** Without a weight it is 1. */
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

/** How the body of a request is coded; null for not at all. @throws ApiError unsupported_media_type */
export function codingOf({ headers }: Request): Coding | null {
  const named = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (named === '' || named === 'identity') return null;
  const coding = codings.find((one) => one === named || `x-${one}` === named);
  if (coding) return coding;
  throw new ApiError(
    'unsupported_media_type',
    'The body has a Content-Encoding that is not taken. Send it as it is, or with gzip or zstd, once.',
    { headers: { 'accept-encoding': takenCodings } },
  );
}

export const isLong = (text: string): boolean => text.length >= longFrom;

/** What threads do. */
export interface Coder {
  encode(payer: Payer, text: string, coding: Coding): Promise<Bytes>;
  /** The bytes that were coded, of which there may be so many. @throws ApiError payload_too_large, malformed_request */
  decode(payer: Payer, coded: Uint8Array, coding: Coding, bytesMax: number): Promise<Uint8Array>;
}

export function createCoder(lanes: Lanes): Coder {
  return {
    encode: (payer, text, coding) => lanes.run(payer, () => encodeAside(text, coding)),
    decode: (payer, coded, coding, bytesMax) => lanes.run(payer, () => decodeAside(coded, coding, bytesMax)),
  };
}

/** For what is not long. */
export function encodeNow(text: string, coding: Coding): Bytes {
  return coding === 'zstd'
    ? new Uint8Array(Bun.zstdCompressSync(text, { level: zstdLevel }))
    : Bun.gzipSync(text, { level: gzipLevel });
}

/** By a thread. @param levels another effort than that for what is sent once */
export async function encodeAside(
  text: string | Bytes,
  coding: Coding,
  levels = { zstd: zstdLevel, gzip: gzipLevel },
): Promise<Bytes> {
  const made = await (coding === 'zstd'
    ? promisify(zstdCompress)(text, { params: { [constants.ZSTD_c_compressionLevel]: levels.zstd } })
    : promisify(gzip)(text, { level: levels.gzip }));
  return new Uint8Array(made);
}

async function decodeAside(coded: Uint8Array, coding: Coding, bytesMax: number): Promise<Uint8Array> {
  try {
    if (coding === 'gzip') return await promisify(gunzip)(coded, { maxOutputLength: bytesMax });
    const bytes = await promisify(zstdDecompress)(coded, {
      maxOutputLength: bytesMax,
      params: { [constants.ZSTD_d_windowLogMax]: windowLogMax },
    });
    if (!isWholeZstd(coded)) throw new Error('The frames do not end with the body.');
    return bytes;
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(bytesMax);
    throw new ApiError(
      'malformed_request',
      `The body is no whole ${coding} stream. Code it anew, or send it without Content-Encoding.`,
      { cause: error },
    );
  }
}
