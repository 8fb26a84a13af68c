// Reads a request body: JSON only, strict UTF-8, capped while it streams so that a missing Content-Length cannot grow it.
import { ApiError } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';

export const bodyBytesMaxDefault = 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

export interface ReadBody {
  readonly text: string;
  readonly value: unknown;
}

export function announcesBody({ headers }: Request): boolean {
  return headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0;
}

/** @throws ApiError unsupported_media_type, payload_too_large, malformed_request */
export async function readBody(request: Request, bytesMax: number): Promise<ReadBody> {
  const type = request.headers.get('content-type');
  if (type === null || !/^application\/json\s*(;\s*charset=("?)utf-8\2\s*)?$/i.test(type))
    throw new ApiError(
      'unsupported_media_type',
      'Send the body as JSON with Content-Type: application/json.',
    );
  const announced = Number(request.headers.get('content-length') ?? Number.NaN);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  const bytes =
    announced >= 0 ? new Uint8Array(await request.arrayBuffer()) : await readCapped(request, bytesMax);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new ApiError('malformed_request', 'The body is not valid UTF-8.');
  }
  return { text, value: parseJson(text) };
}

async function readCapped(request: Request, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : new Uint8Array(Buffer.concat(chunks));
}

function tooLarge(bytesMax: number): ApiError {
  return new ApiError('payload_too_large', `The body is larger than ${bytesMax} bytes.`);
}
