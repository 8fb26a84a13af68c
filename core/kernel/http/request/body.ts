// Reads request bodies, JSON and files, within limits of size, memory and rate, and caches response bodies
// that are the same for all callers.
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';
import { ApiError, tooManyAtOnce } from '../../../platform/lib/errors/errors.ts';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { LoopQueue } from '../../../platform/lib/fairness/loop-queue.ts';
import { takeJson, tooLarge, type ValueLimits } from '../../../platform/lib/json/json-value.ts';
import { malformed, malformedTexts, parseJson } from '../../../platform/lib/json/json.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { IncomingFile } from '../call.ts';
import type { Exchange } from '../requests.ts';
import type { ExemptConnection } from '../response/outflow.ts';
import { etagOf } from '../response/response.ts';
import { type Coder, type Coding, codingOf, encodeAside } from './coding.ts';

export const bodyBytesMaxDefault = 1024 * 1024;
/** Limit of the memory for large bodies of requests in progress. One caller may use a quarter of it. */
const bodyMemoryBytesMax = 128 * 1024 * 1024;
/** Smaller bodies are neither counted nor queued: either would cost more than parsing them. */
const largeBytes = 64 * 1024;

const holdsNothing = (): void => undefined;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

export type BodyLimits = ValueLimits;

export interface ReadBody {
  /** Body as received; null for a value. */
  readonly text: string | null;
  readonly value: unknown;
  /** Length as JSON. */
  readonly size: number;
  /** Releases the bytes, which count against the caller until then. */
  release(): void;
}

/**
 * Reads a request body as strict UTF-8 JSON, or a value within the same limits. The size is capped while the
 * body streams and while it is decompressed, so that neither a missing Content-Length nor a coding exceeds
 * it. Large bodies count against their sender and are parsed in a fair queue.
 */
export interface Bodies {
  /**
   * @param check validates the parsed body by the schema of the route
   * @throws ApiError unsupported_media_type, payload_too_large, malformed_request, rate_limited, and what
   * `check` throws
   */
  read(
    billingAccount: BillingAccount,
    request: Request,
    limits: BodyLimits,
    check: (value: unknown) => void,
  ): Promise<ReadBody>;
  /**
   * Copies and checks a value.
   * @throws ApiError payload_too_large, malformed_request, rate_limited, and what `check` throws
   */
  take(
    billingAccount: BillingAccount,
    value: unknown,
    limits: BodyLimits,
    check: (value: unknown) => void,
  ): ReadBody | Promise<ReadBody>;
}

export function announcesBody({ headers }: Request): boolean {
  return headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0;
}

/**
 * Returns false for a request without a body, which is handled as an empty object so that errors name its
 * fields.
 */
function isSent(request: Request): boolean {
  return announcesBody(request) || request.headers.has('content-type');
}

export function createBodies(fairQueue: LoopQueue, coder: Coder): Bodies {
  const hold = createHold();
  return {
    async read(billingAccount, request, { bytesMax, partsMax }, check) {
      if (!isSent(request)) return this.take(billingAccount, {}, { bytesMax, partsMax }, check);
      requireJson(request);
      const coding = codingOf(request);
      const announced = Number(request.headers.get('content-length') ?? Number.NaN);
      if (announced > bytesMax) throw tooLarge(bytesMax);
      // A body without a Content-Length may be as long as the limit.
      let release = hold(billingAccount, announced >= 0 ? announced : bytesMax);
      const parse = (bytes: Uint8Array): ReadBody => {
        const text = decoded(bytes);
        const value = parseJson(text, partsMax);
        check(value);
        return { text, value, size: text.length, release };
      };
      try {
        const sent =
          announced >= 0 ? new Uint8Array(await request.arrayBuffer()) : await readCapped(request, bytesMax);
        const bytes = coding === null ? sent : await coder.decode(billingAccount, sent, coding, bytesMax);
        if (coding !== null) {
          release();
          release = holdsNothing;
          release = hold(billingAccount, bytes.length);
        }
        return bytes.length < largeBytes
          ? parse(bytes)
          : await fairQueue.run(billingAccount, () => parse(bytes));
      } catch (error) {
        release();
        throw error;
      }
    },
    take(billingAccount, received, limits, check) {
      if (received === undefined) throw malformed(malformedTexts.missing);
      const { value, bytes } = takeJson(received, limits);
      const taken = (release: () => void): ReadBody => {
        check(value);
        return { text: null, value, size: bytes, release };
      };
      return bytes < largeBytes
        ? taken(holdsNothing)
        : parseInQueue(fairQueue, billingAccount, hold(billingAccount, bytes), taken);
    },
  };
}

async function parseInQueue(
  fairQueue: LoopQueue,
  billingAccount: BillingAccount,
  release: () => void,
  taken: (release: () => void) => ReadBody,
): Promise<ReadBody> {
  try {
    return await fairQueue.run(billingAccount, () => taken(release));
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Returns a function that counts a large body against its sender, and returns a function that releases it.
 */
function createHold(): (billingAccount: BillingAccount, bytes: number) => () => void {
  const memoryQuota = new FairQuota(bodyMemoryBytesMax);
  return (billingAccount, bytes) => {
    if (bytes < largeBytes) return holdsNothing;
    if (!memoryQuota.hasCapacityFor(billingAccount, bytes))
      throw tooManyAtOnce(
        'Too many large bodies are being sent at the same time. Send them one after the other.',
      );
    return memoryQuota.reserve(billingAccount, bytes);
  };
}

function requireJson({ headers }: Request): void {
  const type = headers.get('content-type');
  if (type === null || !/^application\/json\s*(;\s*charset=("?)utf-8\2\s*)?$/i.test(type))
    throw new ApiError(
      'unsupported_media_type',
      'Send the body as JSON with Content-Type: application/json.',
    );
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ApiError('malformed_request', 'The body is not valid UTF-8. Encode the body as UTF-8.');
  }
}

/** @throws ApiError payload_too_large before more than the limit is in memory */
export async function readCapped(request: Request, bytesMax: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : new Uint8Array(Buffer.concat(chunks));
}

/** Concurrent uploads on the server. One member may use a quarter, one workspace half. */
const slotsMax = 64;
/** Minimum rate of a sender, 1 KiB/s: each further part of this size must arrive within this time. */
const partBytes = 10 * 1024;
const partMs = 10_000;

/**
 * Reads a file from a request body as it arrives, with a minimum rate and a quota of concurrent uploads by
 * workspace and member.
 */
export interface Uploads {
  /** @throws ApiError unsupported_media_type */
  fileOf(request: Request, exchange: Exchange, billingAccount: BillingAccount): IncomingFile;
}

export function createUploads(clock: Clock, holdOpen: (request: Request) => ExemptConnection): Uploads {
  const slots = new FairQuota(slotsMax);
  return {
    fileOf(request, exchange, billingAccount) {
      const { headers } = request;
      const coding = headers.get('content-encoding');
      if (coding !== null && coding !== 'identity')
        throw new ApiError('unsupported_media_type', 'Send the file uncompressed, without Content-Encoding.');
      // The multipart boundaries would be stored as part of the file.
      if (/^multipart\//i.test(headers.get('content-type') ?? ''))
        throw new ApiError(
          'unsupported_media_type',
          'Send the file itself as the body, not a multipart form (curl: --data-binary @FILE instead of -F), with its own Content-Type.',
        );
      const length = headers.get('content-length');
      const announcedBytes = length === null ? null : Number(length);
      exchange.bytesIn = announcedBytes ?? 0;
      const source = read(request, { clock, holdOpen, takeSlot: () => takeSlot(slots, billingAccount) });
      return { contentType: headers.get('content-type'), announcedBytes, source };
    },
  };
}

/** @returns a function that frees the upload slot @throws ApiError rate_limited */
function takeSlot(slots: FairQuota, billingAccount: BillingAccount): () => void {
  if (!slots.hasCapacityFor(billingAccount, 1))
    throw tooManyAtOnce('Too many concurrent uploads. Send this file when another upload is done.');
  return slots.reserve(billingAccount, 1);
}

interface Reading {
  readonly clock: Clock;
  readonly holdOpen: (request: Request) => ExemptConnection;
  readonly takeSlot: () => () => void;
}

/**
 * Reads the body. The upload slot is taken when the first chunk is requested.
 * @throws ApiError rate_limited, request_timeout, malformed_request
 */
async function* read(request: Request, { clock, holdOpen, takeSlot }: Reading): AsyncGenerator<Uint8Array> {
  if (!request.body) return;
  const releaseSlot = takeSlot();
  const connection = holdOpen(request);
  const reader = request.body.getReader();
  const pace = createPace(clock);
  try {
    for (;;) {
      const { done, value } = await pace.waitFor(reader.read());
      if (done) return;
      pace.received(value.length);
      yield value;
    }
  } finally {
    releaseSlot();
    if (pace.isTooSlow()) connection.hangUp();
    else connection.letGo();
    reader.cancel().catch(() => undefined);
  }
}

interface Pace {
  /**
   * Rejects with request_timeout below the minimum rate, and with malformed_request if the connection breaks.
   */
  waitFor<T>(reading: Promise<T>): Promise<T>;
  received(bytes: number): void;
  isTooSlow(): boolean;
}

/**
 * Counts only the time in which the server waits for the sender, because a slow disk must not count against
 * it.
 */
function createPace(clock: Clock): Pace {
  let bytes = 0;
  let waitedMs = 0;
  let tooSlow = false;
  return {
    async waitFor(reading) {
      const { promise: late, reject } = Promise.withResolvers<never>();
      const sinceMs = clock.monotonicMs();
      const cancel = clock.after(partMs - waitedMs, () => {
        tooSlow = true;
        reject(slowSender());
      });
      try {
        return await Promise.race([reading, late]);
      } catch (error) {
        if (error instanceof ApiError) throw error;
        throw new ApiError(
          'malformed_request',
          'The connection broke before the whole file arrived. Send the file again.',
          {
            cause: error,
          },
        );
      } finally {
        cancel();
        waitedMs += clock.monotonicMs() - sinceMs;
      }
    },
    received(more) {
      bytes += more;
      if (bytes < partBytes) return;
      bytes = 0;
      waitedMs = 0;
    },
    isTooSlow: () => tooSlow,
  };
}

/** The connection cannot be reused, because the rest of the body may still arrive (RFC 9110 §15.5.9). */
function slowSender(): ApiError {
  return new ApiError(
    'request_timeout',
    'Less than 1 KiB/s of the file arrived over 10 s. Send it again over a faster connection.',
    { headers: { connection: 'close' } },
  );
}

type Body = string | Uint8Array<ArrayBuffer>;

/**
 * Body that is the same for all callers, such as the OpenAPI document: compressed once per requested coding
 * and identified by its entity tag, so that repeated requests cost almost nothing.
 */
export interface CachedBody {
  readonly etag: string;
  /** @param coding null for the uncompressed body */
  in(coding: Coding | null): Promise<Body>;
}

/** Higher levels than for other responses, because the body is compressed once and sent often. */
const levels = { zstd: 12, gzip: 9 };

/** @param read called again for each uncompressed response */
export async function cacheBody(read: () => Body | Promise<Body>): Promise<CachedBody> {
  const coded = new Map<Coding, Promise<Body>>();
  return {
    etag: etagOf(undefined, await read()),
    async in(coding) {
      if (coding === null) return read();
      const encoded =
        coded.get(coding) ?? Promise.resolve(read()).then((body) => encodeAside(body, coding, levels));
      coded.set(coding, encoded);
      // After a failure the next request tries again.
      encoded.catch(() => coded.delete(coding));
      return encoded;
    },
  };
}
