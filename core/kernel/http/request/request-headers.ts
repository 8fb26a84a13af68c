// Parses the headers of a request, or the same values from in-process callers.
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { writeModes, type WriteMode } from '../call.ts';

/** Returns the mode in `Tatami-Mode`; `commit` without the header. @throws ApiError validation_failed */
export function modeOf(header: string | null): WriteMode {
  const requested = header ?? 'commit';
  const mode = writeModes.find((one) => one === requested);
  if (mode) return mode;
  const fix = `Use one of ${writeModes.join(', ')}.`;
  throw new ApiError('validation_failed', `Tatami-Mode: ${fix}`, {
    details: [{ path: 'Tatami-Mode', issue: 'invalid_enum', fix }],
  });
}

/**
 * Returns the key in `Idempotency-Key`. The IETF draft quotes it, as a structured string; both forms are
 * equal.
 * @throws ApiError validation_failed
 */
export function checkedKey(header: string): string {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (key.length >= 1 && key.length <= 255) return key;
  const fix = 'Give 1 to 255 characters.';
  throw new ApiError('validation_failed', `Idempotency-Key: ${fix}`, {
    details: [{ path: 'Idempotency-Key', issue: key.length === 0 ? 'too_short' : 'too_long', fix }],
  });
}

/**
 * Returns `traceparent` (W3C Trace Context), which is propagated to events, runs and deliveries; null if
 * malformed.
 */
export function traceparentOf(header: string | null): string | null {
  return header !== null && /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(header) ? header : null;
}
