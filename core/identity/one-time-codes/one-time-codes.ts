// One-time codes of accounts: set up, asked for after the password, turned off. The secret rests sealed, and counts only once a code has
// shown that it arrived. A code is taken once, however often it is sent.
import type { Services } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { sealedFor } from '../../lib/sealed-at-rest.ts';
import { systemOp, type Op } from '../../store/store.ts';
import { newSecret, stepOf } from './codes.ts';
import { hashOfRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';
import {
  confirmSecret,
  countRecoveryCodes,
  deleteRecoveryCodes,
  deleteSecret,
  findSecret,
  insertRecoveryCode,
  putSecret,
  useRecoveryCode,
  useStep,
} from './rows.ts';

export interface OneTimeCodes {
  /** Whether codes are asked for, and how many recovery codes are left; a secret that is not confirmed yet does not count. */
  of(accountId: string): Promise<{ readonly isOn: boolean; readonly recoveryCodesLeft: number }>;
  /** Begins anew with another secret. @returns false where codes are in use */
  begin(accountId: string): Promise<boolean>;
  /** The secret that waits to be confirmed, in base 32; null for none. */
  waiting(accountId: string): Promise<string | null>;
  /** @returns the recovery codes, to be shown once; null where the code is wrong. @throws ApiError conflict where nothing waits */
  confirm(accountId: string, code: string): Promise<readonly string[] | null>;
  /** Whether it is a code of this moment or a recovery code, and was not taken before. */
  take(accountId: string, given: string): Promise<boolean>;
  /** @returns other recovery codes in place of those there are. @throws ApiError conflict where codes are not in use */
  renewRecoveryCodes(accountId: string): Promise<readonly string[]>;
  turnOff(accountId: string): Promise<void>;
}

export function createOneTimeCodes({
  store,
  sealing,
  nowMs,
}: Pick<Services, 'store' | 'sealing' | 'nowMs'>): OneTimeCodes {
  const purposeOf = (account: string) => sealedFor('one-time-codes', '', account);
  const secretOf = async (account: string) => {
    const [row] = await store.readSystem(findSecret, { account });
    if (!row) return null;
    const sealed = new Uint8Array(row.secret_sealed);
    return { sealed, isOn: row.confirmed_at !== null, text: sealing.open(sealed, purposeOf(account)) };
  };
  const once = async (op: Op): Promise<boolean> => (await store.commit([{ ...op, expectRows: 1 }])).ok;

  return {
    async of(account) {
      const secret = await secretOf(account);
      const [{ left } = { left: 0 }] = await store.readSystem(countRecoveryCodes, { account });
      return { isOn: secret?.isOn ?? false, recoveryCodesLeft: left };
    },
    async begin(account) {
      const secret = sealing.seal(newSecret(), purposeOf(account));
      return once(systemOp(putSecret, { account, secret, now: nowMs() }));
    },
    async waiting(account) {
      const secret = await secretOf(account);
      return secret && !secret.isOn ? secret.text : null;
    },
    async confirm(account, code) {
      const secret = await secretOf(account);
      if (!secret || secret.isOn) throw nothingWaits();
      const step = stepOf(secret.text, code, nowMs());
      if (step === null) return null;
      const codes = newRecoveryCodes();
      const confirmed = { account, step, secret: secret.sealed, now: nowMs() };
      const { ok } = await store.commit([
        systemOp(confirmSecret, confirmed, { expectRows: 1 }),
        ...recoveryCodeOps(account, codes),
      ]);
      if (!ok) throw nothingWaits();
      return codes;
    },
    async take(account, given) {
      const hash = hashOfRecoveryCode(given);
      if (hash !== null) return once(systemOp(useRecoveryCode, { account, hash }));
      const secret = await secretOf(account);
      const step = secret?.isOn ? stepOf(secret.text, given, nowMs()) : null;
      return step !== null && once(systemOp(useStep, { account, step }));
    },
    async renewRecoveryCodes(account) {
      if (!(await secretOf(account))?.isOn) throw new ApiError('conflict', 'One-time codes are off.');
      const codes = newRecoveryCodes();
      await store.commit(recoveryCodeOps(account, codes));
      return codes;
    },
    async turnOff(account) {
      await store.commit(turnOffOps(account));
    },
  };
}

/** Neither codes nor recovery codes are asked for, or taken. */
export function turnOffOps(account: string): Op[] {
  return [systemOp(deleteSecret, { account }), systemOp(deleteRecoveryCodes, { account })];
}

function recoveryCodeOps(account: string, codes: readonly string[]): Op[] {
  return [
    systemOp(deleteRecoveryCodes, { account }),
    ...codes.map((code) => systemOp(insertRecoveryCode, { account, hash: hashOfRecoveryCode(code) })),
  ];
}

function nothingWaits(): ApiError {
  return new ApiError('conflict', 'No secret waits for its first code. Begin again on your account page.');
}
