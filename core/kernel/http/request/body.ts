// Reads a request body as strict UTF-8 JSON, or a value within the same limits. The size is capped while the body streams and while it is
// decompressed, so that neither a missing Content-Length nor a coding exceeds it. Large bodies count against their sender and are parsed
// in a fair queue.
import { ApiError, tooManyAtOnce } from '../../../platform/lib/errors/errors.ts';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';
import { malformed, malformedTexts, parseJson } from '../../../platform/lib/json/json.ts';
import { takeJson, tooLarge, type ValueLimits } from '../../../platform/lib/json/json-value.ts';
import { codingOf, type Coder } from './coding.ts';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { LoopQueue } from '../../../platform/lib/fairness/loop-queue.ts';

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

export interface Bodies {
  /**
   * @param check validates the parsed body by the schema of the route
   * @throws ApiError unsupported_media_type, payload_too_large, malformed_request, rate_limited, and what `check` throws
   */
  read(
    billingAccount: BillingAccount,
    request: Request,
    limits: BodyLimits,
    check: (value: unknown) => void,
  ): Promise<ReadBody>;
  /** Copies and checks a value. @throws ApiError payload_too_large, malformed_request, rate_limited, and what `check` throws */
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
