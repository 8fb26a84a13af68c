// Reads a file from a request body as it arrives, with a minimum rate and a quota of concurrent uploads by workspace and member.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { ApiError, tooManyAtOnce } from '../../../platform/lib/errors/errors.ts';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';
import type { IncomingFile } from '../call.ts';
import type { Exchange } from '../exchange.ts';
import type { ExemptConnection } from '../response/outflow.ts';

/** Concurrent uploads on the server. One member may use a quarter, one workspace half. */
const slotsMax = 64;
/** Minimum rate of a sender, 1 KiB/s: each further part of this size must arrive within this time. */
const partBytes = 10 * 1024;
const partMs = 10_000;

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
  /** Rejects with request_timeout below the minimum rate, and with malformed_request if the connection breaks. */
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
