// A file as the body of a request, read as it arrives: a minimum rate, and places for concurrent uploads by workspace and member.
import type { Clock } from '../lib/clock.ts';
import { ApiError, tooManyAtOnce } from '../lib/errors.ts';
import { Shares } from '../lib/fairness/shares.ts';
import type { Payer } from '../lib/payer.ts';
import type { IncomingFile } from './call.ts';
import type { Exchange } from './exchange.ts';
import type { Held } from './outflow.ts';

/** Concurrent uploads of the server: one member has a quarter of them at most, one workspace half. */
const placesMax = 64;
/** Minimum rate of a sender: each further part of this size arrives within this time, which is 1 KiB/s. */
const partBytes = 10 * 1024;
const partMs = 10_000;

export interface Uploads {
  /** @throws ApiError unsupported_media_type */
  fileOf(request: Request, exchange: Exchange, payer: Payer): IncomingFile;
}

export function createUploads(clock: Clock, holdOpen: (request: Request) => Held): Uploads {
  const places = new Shares(placesMax);
  return {
    fileOf(request, exchange, payer) {
      const { headers } = request;
      const coding = headers.get('content-encoding');
      if (coding !== null && coding !== 'identity')
        throw new ApiError('unsupported_media_type', 'Send the file as it is, without Content-Encoding.');
      // The wrapping of a form would be stored as a part of the file.
      if (/^multipart\//i.test(headers.get('content-type') ?? ''))
        throw new ApiError(
          'unsupported_media_type',
          'Send the file as the body, without a form around it (curl: --data-binary @FILE in place of -F), and its own type as Content-Type.',
        );
      const length = headers.get('content-length');
      const announcedBytes = length === null ? null : Number(length);
      exchange.bytesIn = announcedBytes ?? 0;
      const source = read(request, { clock, holdOpen, takePlace: () => takePlace(places, payer) });
      return { contentType: headers.get('content-type'), announcedBytes, source };
    },
  };
}

/** @returns a function that frees the place @throws ApiError rate_limited */
function takePlace(places: Shares, payer: Payer): () => void {
  if (!places.hasRoomFor(payer, 1))
    throw tooManyAtOnce(
      'Too many of your files are being sent at the same time. Send this one when another is done.',
    );
  return places.hold(payer, 1);
}

interface Reading {
  readonly clock: Clock;
  readonly holdOpen: (request: Request) => Held;
  readonly takePlace: () => () => void;
}

/** Nothing is opened before the first piece is asked for. @throws ApiError rate_limited, request_timeout, malformed_request */
async function* read(request: Request, { clock, holdOpen, takePlace }: Reading): AsyncGenerator<Uint8Array> {
  if (!request.body) return;
  const freePlace = takePlace();
  const held = holdOpen(request);
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
    freePlace();
    if (pace.isTooSlow()) held.hangUp();
    else held.letGo();
    reader.cancel().catch(() => undefined);
  }
}

interface Pace {
  /** Rejects with request_timeout below the minimum rate, and with malformed_request where the connection breaks. */
  waitFor<T>(reading: Promise<T>): Promise<T>;
  received(bytes: number): void;
  isTooSlow(): boolean;
}

/** Only time in which the server waits for the sender counts: a slow disk is not the sender's fault. */
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
        throw new ApiError('malformed_request', 'The connection broke before the whole file arrived.', {
          cause: error,
        });
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

/** The rest of the body may still arrive, so the connection cannot be used again (RFC 9110 §15.5.9). */
function slowSender(): ApiError {
  return new ApiError(
    'request_timeout',
    'Less than 1 KiB/s of the file arrived over 10 s. Send it again over a faster connection.',
    { headers: { connection: 'close' } },
  );
}
