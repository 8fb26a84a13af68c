// Verifies WebAuthn responses (Web Authentication Level 3 §7.1, §7.2): challenge, relying party, user verification and signature.
import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
  WebAuthnCredential,
} from '@simplewebauthn/server';
import { Type, type Static, type TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { RelyingParty } from './relying-party.ts';
import type { PasskeyRow } from './rows.ts';

const base64url = Type.String({ pattern: '^[A-Za-z0-9_-]{1,20000}$' });
const answerWith = <R extends Record<string, TSchema>>(response: R) =>
  Type.Object({
    id: base64url,
    rawId: base64url,
    type: Type.Literal('public-key'),
    response: Type.Object({ clientDataJSON: base64url, ...response }),
  });
const attestation = answerWith({
  attestationObject: base64url,
  transports: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: 10 })),
});
const assertion = answerWith({
  authenticatorData: base64url,
  signature: base64url,
  userHandle: Type.Optional(Type.Union([base64url, Type.Null()])),
});

/** @throws ApiError validation_failed, forbidden */
export async function checkAttestation(
  answer: unknown,
  { id, origin }: RelyingParty,
  challenge: string,
): Promise<WebAuthnCredential> {
  const checked = shaped(attestation, answer);
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { ...checked, clientExtensionResults: {} } as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
  }).catch(refuse);
  return verified ? registrationInfo.credential : refuse();
}

/**
 * @param known finds a stored passkey by its credential id
 * @returns the stored passkey and its new signature counter
 * @throws ApiError validation_failed, forbidden
 */
export async function checkAssertion(
  answer: unknown,
  { id, origin }: RelyingParty,
  challenge: string,
  known: (credentialId: string) => Promise<PasskeyRow | undefined>,
): Promise<{ readonly row: PasskeyRow; readonly counter: number }> {
  const checked = shaped(assertion, answer);
  const response = { ...checked, clientExtensionResults: {} } as AuthenticationResponseJSON;
  const row = await known(response.id);
  if (!row)
    throw new ApiError(
      'forbidden',
      'This server has no such passkey registered. It may have been removed; use another one.',
    );
  const { userHandle } = response.response;
  if (userHandle && Buffer.from(userHandle, 'base64url').toString() !== row.account_id) refuse();
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    credential: {
      id: row.credential_id,
      publicKey: new Uint8Array(row.public_key),
      counter: row.counter,
    },
  }).catch(refuse);
  return verified ? { row, counter: authenticationInfo.newCounter } : refuse();
}

function shaped<S extends TSchema>(schema: S, answer: unknown): Static<S> {
  if (Check(schema, answer)) return answer;
  throw new ApiError(
    'validation_failed',
    'The credential is malformed. Send the result of PublicKeyCredential.toJSON.',
  );
}

/** @throws ApiError forbidden */
function refuse(cause?: unknown): never {
  throw new ApiError('forbidden', 'This passkey could not be verified. Try again.', { cause });
}
