// Passkeys (Web Authentication Level 3). User verification is required, so a passkey counts as two factors
// and needs no second step. Passkeys are discoverable credentials, so the sign-in needs no e-mail address.
import type { IdentityDeps } from '../../people/index.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { systemOp } from '../../../platform/store/store.ts';
import type { Ceremonies } from '../challenges.ts';
import { createAdding, type Adding } from './adding.ts';
import { relyingPartyOf, type RelyingParty } from './relying-party.ts';
import { deletePasskey, listPasskeys, renamePasskey, findPasskey, notePasskeyUse } from './rows.ts';
import { checkAssertion } from './answers.ts';
import { challengeOf, timeoutMs, tooLate, type CredentialRequest } from './credential-request.ts';

export const passkeyNameMax = 60;

export interface Passkey {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
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
  ceremonies: Ceremonies,
  party: RelyingParty,
): SigningIn {
  return {
    async askToSignIn() {
      const { ceremony, cookie } = await ceremonies.begin('use-passkey', null, null);
      const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
      const options = await generateAuthenticationOptions({
        rpID: party.id,
        timeout: timeoutMs,
        userVerification: 'required',
        challenge: challengeOf(ceremony).bytes,
      });
      return { options, cookie };
    },
    async signIn(headers, answer) {
      const ceremony = await ceremonies.take('use-passkey', headers);
      if (!ceremony) throw tooLate();
      const { row, counter } = await checkAssertion(
        answer,
        party,
        challengeOf(ceremony).text,
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
  /** Challenges that add and use passkeys; null if browsers do not support passkeys at the base URL. */
  readonly ceremonies: PasskeyCeremonies | null;
  of(accountId: string): Promise<readonly Passkey[]>;
  /** @throws ApiError not_found */
  rename(accountId: string, id: string, name: string): Promise<void>;
  /** @returns false if the passkey is the last sign-in method of the account and was not removed */
  remove(accountId: string, id: string): Promise<boolean>;
}

export function createPasskeys(services: IdentityDeps, ceremonies: Ceremonies): Passkeys {
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
      ...createAdding(services, ceremonies, party),
      ...createSigningIn(services, ceremonies, party),
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
