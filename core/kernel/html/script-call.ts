// Reads JSON requests of the scripts of our own pages.
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { parseJson } from '../../platform/lib/json/json.ts';
import type { RawRequest } from '../http/route.ts';
import { requireOwnPage } from './form.ts';

const bytesMax = 65_536;

/**
 * @throws ApiError forbidden, unsupported_media_type, payload_too_large, malformed_request; validation_failed
 * if the body is not an object
 */
export async function readScriptCall(
  request: RawRequest,
  baseUrl: string,
): Promise<Readonly<Record<string, unknown>>> {
  requireOwnPage(request, baseUrl);
  // A form of another site cannot send this type.
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new ApiError('unsupported_media_type');
  const body = parseJson(new TextDecoder().decode(await request.read(bytesMax)));
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ApiError('validation_failed', 'Send a JSON object.');
  return body as Record<string, unknown>;
}
