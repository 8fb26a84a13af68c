// Options for the WebAuthn calls of browsers, and the WebAuthn challenge, which binds the response to them.
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { Ceremony } from '../challenges.ts';

/** Allows enough time to fetch the device with the passkey. */
export const timeoutMs = 300_000;

export interface CredentialRequest {
  /** Input of `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`. */
  readonly options: object;
  readonly cookie: string;
}

/** Returns the WebAuthn challenge: bytes for the options, and base64url text as in the response. */
export function challengeOf(ceremony: Ceremony<unknown>): {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
} {
  const text = ceremony.secret('challenge');
  return { bytes: new Uint8Array(Buffer.from(text, 'base64url')), text };
}

export function tooLate(): ApiError {
  return new ApiError('forbidden', 'The request has expired, or was started in another browser. Try again.');
}
