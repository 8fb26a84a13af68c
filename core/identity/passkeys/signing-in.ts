import type { Services } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { systemOp } from '../../store/store.ts';
import type { Ceremonies } from '../ceremonies/ceremonies.ts';
import { checkAssertion } from './answers.ts';
import { challengeOf, timeoutMs, tooLate, type CredentialRequest } from './credential-request.ts';
import type { RelyingParty } from './relying-party.ts';
import { findPasskey, notePasskeyUse } from './rows.ts';

export interface SigningIn {
  askToSignIn(): Promise<CredentialRequest>;
  /**
   * @returns the id of the account with the passkey
   * @throws ApiError forbidden, validation_failed
   */
  signIn(headers: Headers, answer: unknown): Promise<string>;
}

export function createSigningIn(
  { store, nowMs }: Pick<Services, 'store' | 'nowMs'>,
  ceremonies: Ceremonies,
  party: RelyingParty,
): SigningIn {
  return {
    async askToSignIn() {
      const { ceremony, cookie } = await ceremonies.begin('use-passkey', null, null);
      const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
      const options = await generateAuthenticationOptions({
        ...{ rpID: party.id, timeout: timeoutMs, userVerification: 'required' },
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
