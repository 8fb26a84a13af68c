// Options for the WebAuthn calls of browsers, and the challenge that binds the response to them.
import { ApiError } from '../../lib/errors.ts';
import type { Ceremony } from '../ceremonies/ceremonies.ts';

/** Long enough for a person to fetch the device with the passkey. */
export const timeoutMs = 300_000;

export interface CredentialRequest {
  /** Input of `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`. */
  readonly options: object;
  /** `Set-Cookie` line to send with the options. */
  readonly cookie: string;
}

/** Returns the challenge of a ceremony, as bytes for the options and as the base64url text of the response. */
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
