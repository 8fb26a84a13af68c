// Passkeys (Web Authentication Level 3): added by an account that is signed in, and signed in with. They prove both that a device is
// there and that its owner unlocked it (user verification), so they need no second step; and the device knows whose they are, so that
// nobody types an address.
import type { AuthenticatorTransport } from '@simplewebauthn/server';
import type { Services } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { systemOp } from '../../store/store.ts';
import type { Ceremonies, Ceremony } from '../ceremonies/ceremonies.ts';
import type { SignedIn } from '../sessions/sessions.ts';
import { checkAssertion, checkAttestation } from './answers.ts';
import { relyingPartyOf, type RelyingParty } from './relying-party.ts';
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  notePasskeyUse,
  passkeysMax,
  renamePasskey,
  type PasskeyRow,
} from './rows.ts';

const passkeyPrefix = 'psk';
const timeoutMs = 300_000;
/** Of the secrets of a ceremony. */
const challenge = 'challenge';

export interface Passkey {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** What the browser is to be asked for, as its methods `parse…OptionsFromJSON` take it, and the `Set-Cookie` line that goes with it. */
export interface Asked {
  readonly options: object;
  readonly cookie: string;
}

type Who = Pick<SignedIn, 'accountId' | 'name' | 'email'>;

export interface Passkeys {
  /** Null where browsers make none for the address of this server. */
  readonly relyingParty: RelyingParty | null;
  of(accountId: string): Promise<readonly Passkey[]>;
  askToAdd(who: Who): Promise<Asked>;
  /** @param answer of the browser, as `toJSON` makes it. @throws ApiError forbidden, conflict, validation_failed */
  add(accountId: string, headers: Headers, answer: unknown, name: string): Promise<void>;
  askToSignIn(): Promise<Asked>;
  /** @returns the account whose passkey it is. @throws ApiError forbidden, validation_failed */
  signIn(headers: Headers, answer: unknown): Promise<string>;
  /** @throws ApiError not_found */
  rename(accountId: string, id: string, name: string): Promise<void>;
  /** @throws ApiError conflict for the last way into an account */
  remove(accountId: string, id: string): Promise<void>;
}

type PasskeyServices = Pick<Services, 'store' | 'ids' | 'nowMs' | 'baseUrl'>;

export function createPasskeys(services: PasskeyServices, ceremonies: Ceremonies): Passkeys {
  const { store, baseUrl, ids, nowMs } = services;
  const relyingParty = relyingPartyOf(baseUrl);
  const requireParty = (): RelyingParty => {
    if (relyingParty) return relyingParty;
    throw new ApiError(
      'conflict',
      `Browsers make no passkeys for ${baseUrl}: they need https, and a name in place of an IP address.`,
    );
  };
  const rowsOf = (account: string): Promise<PasskeyRow[]> => store.readSystem(listPasskeys, { account });
  return {
    relyingParty,
    of: async (account) =>
      (await rowsOf(account)).map(({ id, name, created_at: createdAt, last_used_at: lastUsedAt }) => ({
        ...{ id, name, createdAt, lastUsedAt },
      })),

    async askToAdd(who) {
      const { id } = requireParty();
      const { ceremony, cookie } = await ceremonies.begin('add-passkey', who.accountId, null);
      return { options: await creationOptions(id, who, await rowsOf(who.accountId), ceremony), cookie };
    },

    async add(accountId, headers, answer, name) {
      const party = requireParty();
      const ceremony = await ceremonies.take('add-passkey', headers);
      if (ceremony?.accountId !== accountId) throw tooLate();
      const credential = await checkAttestation(answer, party, ceremony.secret(challenge));
      const outcome = await store.commit([
        systemOp(
          insertPasskey,
          {
            ...{ id: ids.next(passkeyPrefix), account: accountId, name, now: nowMs() },
            ...{ credential: credential.id, key: credential.publicKey, counter: credential.counter },
            transports: JSON.stringify(credential.transports ?? []),
          },
          { expectRows: 1 },
        ),
      ]);
      if (outcome.ok) return;
      if (outcome.reason === 'lost_race')
        throw new ApiError('conflict', `You have ${passkeysMax} passkeys: remove one first.`);
      throw new ApiError('conflict', 'This passkey is known here already.');
    },

    async askToSignIn() {
      const { id } = requireParty();
      const { ceremony, cookie } = await ceremonies.begin('use-passkey', null, null);
      return { options: await requestOptions(id, ceremony), cookie };
    },

    async signIn(headers, answer) {
      const party = requireParty();
      const ceremony = await ceremonies.take('use-passkey', headers);
      if (!ceremony) throw tooLate();
      const known = async (credential: string): Promise<PasskeyRow | undefined> =>
        (await store.readSystem(findPasskey, { credential }))[0];
      const { row, counter } = await checkAssertion(answer, party, ceremony.secret(challenge), known);
      const { ok } = await store.commit([
        systemOp(notePasskeyUse, { id: row.id, counter, now: nowMs() }, { expectRows: 1 }),
      ]);
      if (!ok) throw new ApiError('forbidden', 'This passkey was used at the same time. Try again.');
      return row.account_id;
    },

    async rename(account, id, name) {
      const { ok } = await store.commit([systemOp(renamePasskey, { account, id, name }, { expectRows: 1 })]);
      if (!ok) throw new ApiError('not_found');
    },

    async remove(account, id) {
      const { ok } = await store.commit([systemOp(deletePasskey, { account, id }, { expectRows: 1 })]);
      if (ok || !(await rowsOf(account)).some((one) => one.id === id)) return;
      throw new ApiError(
        'conflict',
        'This passkey is the only way into your account: set a password or add another passkey first.',
      );
    },
  };
}

function tooLate(): ApiError {
  return new ApiError('forbidden', 'That took too long, or was begun in another browser. Try again.');
}

// The library is loaded when it is first needed: most processes never are asked for a passkey.

async function creationOptions(
  rpID: string,
  { accountId, name, email }: Who,
  rows: readonly PasskeyRow[],
  ceremony: Ceremony<unknown>,
): Promise<object> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  return generateRegistrationOptions({
    ...{ rpName: 'Tatami', rpID, userName: email, userDisplayName: name, timeout: timeoutMs },
    userID: new TextEncoder().encode(accountId),
    challenge: bytesOf(ceremony.secret(challenge)),
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: rows.map(({ credential_id: id, transports_json: transports }) => ({
      ...{ id, transports: JSON.parse(transports) as AuthenticatorTransport[] },
    })),
  });
}

async function requestOptions(rpID: string, ceremony: Ceremony<unknown>): Promise<object> {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  return generateAuthenticationOptions({
    ...{ rpID, timeout: timeoutMs, userVerification: 'required' },
    challenge: bytesOf(ceremony.secret(challenge)),
  });
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(base64url, 'base64url'));
}
