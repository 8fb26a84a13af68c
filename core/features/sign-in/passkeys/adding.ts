import type { AuthenticatorTransport } from '@simplewebauthn/server';
import type { IdentityDeps } from '../../people/index.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { systemOp } from '../../../platform/store/store.ts';
import type { Ceremonies } from '../challenges.ts';
import { stillSignedInOp, type SignedIn } from '../sessions.ts';
import { checkAttestation } from './answers.ts';
import { challengeOf, timeoutMs, tooLate, type CredentialRequest } from './credential-request.ts';
import type { RelyingParty } from './relying-party.ts';
import { insertPasskey, listPasskeys, passkeysMax, type PasskeyRow } from './rows.ts';

const passkeyPrefix = 'psk';

export interface Adding {
  askToAdd(who: SignedIn): Promise<CredentialRequest>;
  /**
   * @param answer result of `PublicKeyCredential.toJSON` in the browser
   * @throws ApiError validation_failed; conflict; forbidden, also if the session has ended
   */
  add(who: SignedIn, headers: Headers, answer: unknown, name: string): Promise<void>;
}

export function createAdding(
  { store, ids, nowMs }: IdentityDeps,
  ceremonies: Ceremonies,
  party: RelyingParty,
): Adding {
  return {
    async askToAdd(who) {
      const { ceremony, cookie } = await ceremonies.begin('add-passkey', who.accountId, null);
      const rows = await store.readSystem(listPasskeys, { account: who.accountId });
      return { options: await optionsFor(party, who, rows, challengeOf(ceremony).bytes), cookie };
    },
    async add({ accountId, sessionId }, headers, answer, name) {
      const ceremony = await ceremonies.take('add-passkey', headers);
      if (ceremony?.accountId !== accountId) throw tooLate();
      const credential = await checkAttestation(answer, party, challengeOf(ceremony).text);
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
