// What browsers are asked for, and what binds their answer to it.
import { ApiError } from '../../lib/errors.ts';
import type { Ceremony } from '../ceremonies/ceremonies.ts';

/** A person may look for the device that holds the passkey. */
export const timeoutMs = 300_000;

export interface Asked {
  /** As `PublicKeyCredential.parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON` take it. */
  readonly options: object;
  /** The `Set-Cookie` line that goes with it. */
  readonly cookie: string;
}

/** The challenge of a ceremony, as it is asked with and as it comes back. */
export function challengeOf(ceremony: Ceremony<unknown>): {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
} {
  const text = ceremony.secret('challenge');
  return { bytes: new Uint8Array(Buffer.from(text, 'base64url')), text };
}

export function tooLate(): ApiError {
  return new ApiError('forbidden', 'That took too long, or was begun in another browser. Try again.');
}
