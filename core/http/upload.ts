// A file as the body of a request: read as it comes, with a bound on how long nothing may come, and on how many come at once.
import { ApiError } from '../lib/errors.ts';
import { inTime } from '../lib/in-time.ts';
import type { IncomingFile } from './call.ts';
import type { Exchange } from './exchange.ts';
import type { Held } from './outflow.ts';

/** A sender who is silent for longer has gone, as far as anybody can tell. */
const silentMs = 30_000;
/** Of all files that are on their way in. */
const atOnceMax = 16;
let coming = 0;

/** @throws ApiError unsupported_media_type */
export function fileOf(
  request: Request,
  exchange: Exchange,
  holdOpen: (request: Request) => Held,
): IncomingFile {
  const { headers } = request;
  const coding = headers.get('content-encoding');
  if (coding !== null && coding !== 'identity')
    throw new ApiError('unsupported_media_type', 'Send the file as it is, without Content-Encoding.');
  // What a form wraps around a file would be kept as a part of it.
  if (/^multipart\//i.test(headers.get('content-type') ?? ''))
    throw new ApiError(
      'unsupported_media_type',
      'Send the file as the body, without a form around it (curl: --data-binary @FILE in place of -F), and its own type as Content-Type.',
    );
  const length = headers.get('content-length');
  const announcedBytes = length === null ? null : Number(length);
  exchange.bytesIn = announcedBytes ?? 0;
  return { contentType: headers.get('content-type'), announcedBytes, source: read(request, holdOpen) };
}

/** Nothing is opened before the first piece is asked for. @throws ApiError rate_limited, malformed_request */
async function* read(request: Request, holdOpen: (request: Request) => Held): AsyncGenerator<Uint8Array> {
  if (!request.body) return;
  if (coming >= atOnceMax)
    throw new ApiError(
      'rate_limited',
      'Too many files are being sent at the same time. Send it again later.',
    );
  coming++;
  const held = holdOpen(request);
  const reader = request.body.getReader();
  try {
    for (;;) {
      const { done, value } = await orSilent(reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    coming--;
    held.letGo();
    reader.cancel().catch(() => undefined);
  }
}

async function orSilent<T>(reading: Promise<T>): Promise<T> {
  const message = 'The file did not come whole.';
  try {
    return await inTime(reading, silentMs, () => new ApiError('malformed_request', message));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('malformed_request', message, { cause: error });
  }
}
