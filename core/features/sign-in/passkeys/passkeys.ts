// Passkeys (Web Authentication Level 3). User verification is required, so a passkey counts as two factors
// and needs no second step. Passkeys are discoverable credentials, so the sign-in needs no e-mail address.
import { isIP } from 'node:net';
import { isLoopbackHost } from '../../../platform/lib/address.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { Challenge, Challenges } from '../challenges.ts';
import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
  WebAuthnCredential,
  AuthenticatorTransport,
} from '@simplewebauthn/server';
import { Type, type Static, type TSchema } from 'typebox';
import { Check } from 'typebox/value';
import {
  type PasskeyRow,
  insertPasskey,
  listPasskeys,
  passkeysMax,
  deletePasskey,
  renamePasskey,
  findPasskey,
  notePasskeyUse,
} from './rows.ts';
import type { IdentityDeps } from '../../people/index.ts';
import { systemOp } from '../../../platform/store/store.ts';
import { stillSignedInOp, type SignedIn } from '../sessions.ts';

export const passkeyNameMax = 60;

export interface Passkey {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

const passkeyPrefix = 'psk';

interface Adding {
  askToAdd(who: SignedIn): Promise<CredentialRequest>;
  /**
   * @param answer result of `PublicKeyCredential.toJSON` in the browser
   * @throws ApiError validation_failed; conflict; forbidden, also if the session has ended
   */
  add(who: SignedIn, headers: Headers, answer: unknown, name: string): Promise<void>;
}

function createAdding(
  { store, ids, nowMs }: IdentityDeps,
  challenges: Challenges,
  party: RelyingParty,
): Adding {
  return {
    async askToAdd(who) {
      const { challenge, cookie } = await challenges.begin('add-passkey', who.accountId, null);
      const rows = await store.readSystem(listPasskeys, { account: who.accountId });
      return { options: await optionsFor(party, who, rows, challengeOf(challenge).bytes), cookie };
    },
    async add({ accountId, sessionId }, headers, answer, name) {
      const challenge = await challenges.take('add-passkey', headers);
      if (challenge?.accountId !== accountId) throw tooLate();
      const credential = await checkAttestation(answer, party, challengeOf(challenge).text);
      const row = {
        id: ids.next(passkeyPrefix),
        account: accountId,
        name,
        now: nowMs(),
        credential: credential.id,
        key: credential.publicKey,
        counter: credential.counter,
        transports: JSON.stringify(credential.transports ?? []),
      };
      const outcome = await store.commit([
        stillSignedInOp(sessionId),
        systemOp(insertPasskey, row, { expectRows: 1 }),
      ]);
      if (outcome.ok) return;
      if (outcome.op === 0) throw tooLate();
      throw new ApiError(
        'conflict',
        outcome.reason === 'lost_race'
          ? `You have ${passkeysMax} passkeys, which is the maximum. Remove one first.`
          : 'This passkey was added already. Use it to sign in, or add another one.',
      );
    },
  };
}

async function optionsFor(
  { id: rpID }: RelyingParty,
  { accountId, name, email }: SignedIn,
  known: readonly PasskeyRow[],
  challenge: Uint8Array<ArrayBuffer>,
): Promise<object> {
  // Loaded on first use, because most processes never handle a passkey.
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  return generateRegistrationOptions({
    rpName: 'Tatami',
    rpID,
    userName: email,
    userDisplayName: name,
    timeout: timeoutMs,
    challenge,
    userID: new TextEncoder().encode(accountId),
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: known.map((row) => ({
      id: row.credential_id,
      transports: JSON.parse(row.transports_json) as AuthenticatorTransport[],
    })),
  });
}

interface SigningIn {
  askToSignIn(): Promise<CredentialRequest>;
  /**
   * @returns the id of the account with the passkey
   * @throws ApiError forbidden, validation_failed
   */
  signIn(headers: Headers, answer: unknown): Promise<string>;
}

function createSigningIn(
  { store, nowMs }: IdentityDeps,
  challenges: Challenges,
  party: RelyingParty,
): SigningIn {
  return {
    async askToSignIn() {
      const { challenge, cookie } = await challenges.begin('use-passkey', null, null);
      const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
      const options = await generateAuthenticationOptions({
        rpID: party.id,
        timeout: timeoutMs,
        userVerification: 'required',
        challenge: challengeOf(challenge).bytes,
      });
      return { options, cookie };
    },
    async signIn(headers, answer) {
      const challenge = await challenges.take('use-passkey', headers);
      if (!challenge) throw tooLate();
      const { row, counter } = await checkAssertion(
        answer,
        party,
        challengeOf(challenge).text,
        async (credential) => {
          const [known] = await store.readSystem(findPasskey, { credential });
          return known;
        },
      );
      const used = systemOp(notePasskeyUse, { id: row.id, counter, now: nowMs() }, { expectRows: 1 });
      if (!(await store.commit([used])).ok)
        throw new ApiError('forbidden', 'This passkey was used at the same time. Try again.');
      return row.account_id;
    },
  };
}

export type PasskeyCeremonies = Adding & SigningIn;

export interface Passkeys {
  /** Challenges that add and use passkeys; null if browsers do not support passkeys at any address of this server. */
  readonly ceremonies: (PasskeyCeremonies & { readonly origin: string }) | null;
  of(accountId: string): Promise<readonly Passkey[]>;
  /** @throws ApiError not_found */
  rename(accountId: string, id: string, name: string): Promise<void>;
  /** @returns false if the passkey is the last sign-in method of the account and was not removed */
  remove(accountId: string, id: string): Promise<boolean>;
}

export function createPasskeys(services: IdentityDeps, challenges: Challenges): Passkeys {
  const { store, baseUrl } = services;
  const party = relyingPartyOf(baseUrl);
  const of: Passkeys['of'] = async (account) =>
    (await store.readSystem(listPasskeys, { account })).map((row) => ({
      id: row.id,
      name: row.name,
      createdAt: row.created_at,
      lastUsedAt: row.last_used_at,
    }));
  return {
    ceremonies: party && {
      origin: party.origin,
      ...createAdding(services, challenges, party),
      ...createSigningIn(services, challenges, party),
    },
    of,
    async rename(account, id, name) {
      const { ok } = await store.commit([systemOp(renamePasskey, { account, id, name }, { expectRows: 1 })]);
      if (!ok) throw new ApiError('not_found');
    },
    async remove(account, id) {
      const { ok } = await store.commit([systemOp(deletePasskey, { account, id }, { expectRows: 1 })]);
      return ok || !(await of(account)).some((one) => one.id === id);
    },
  };
}

/** WebAuthn relying party: the host name of this server (§5.1.2). */
interface RelyingParty {
  /**
   * Host name. Passkeys work only for this name, so they stop working when the server moves to another one.
   */
  readonly id: string;
  readonly origin: string;
}

/**
 * A server at a loopback address has passkeys at `localhost`.
 * @returns null at addresses for which browsers do not support passkeys: IP addresses, and http except for
 * localhost
 */
function relyingPartyOf(baseUrl: string): RelyingParty | null {
  const url = new URL(baseUrl);
  if (isLoopbackHost(url.hostname)) url.hostname = 'localhost';
  const { hostname, origin, protocol } = url;
  if (hostname.startsWith('[') || isIP(hostname) !== 0) return null;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  return protocol === 'https:' || isLocal ? { id: hostname, origin } : null;
}

/** Allows enough time to fetch the device with the passkey. */
const timeoutMs = 300_000;

interface CredentialRequest {
  /** Input of `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`. */
  readonly options: object;
  readonly cookie: string;
}

/** Returns the WebAuthn challenge: bytes for the options, and base64url text as in the response. */
function challengeOf(challenge: Challenge<unknown>): {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
} {
  const text = challenge.secret('challenge');
  return { bytes: new Uint8Array(Buffer.from(text, 'base64url')), text };
}

function tooLate(): ApiError {
  return new ApiError('forbidden', 'The request has expired, or was started in another browser. Try again.');
}

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

/**
 * Verifies the response to a registration (§7.1).
 * @throws ApiError validation_failed, forbidden
 */
async function checkAttestation(
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
 * Verifies the response to an authentication (§7.2).
 * @param known finds a stored passkey by its credential id
 * @returns the stored passkey and its new signature counter
 * @throws ApiError validation_failed, forbidden
 */
async function checkAssertion(
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
