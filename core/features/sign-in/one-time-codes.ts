// One-time codes (RFC 6238): six digits derived from a shared secret and the time. The secret of an account
// is stored encrypted, and takes effect after a first code has confirmed it. Each code is accepted only once.
import { Secret, TOTP } from 'otpauth';
import type { IdentityDeps } from '../people/index.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { sealedFor } from '../../platform/lib/secrets/sealing.ts';
import { systemOp, type Op } from '../../platform/store/store.ts';
import { createHash, randomBytes } from 'node:crypto';
import { systemStatement } from '../../platform/store/statement.ts';
import { html, readForm } from '../../kernel/html.ts';
import type { RawRequest, RawAnswer, Route } from '../../kernel/http/route.ts';
import { card, leadToSignIn, pageRoute } from './page-parts.ts';
import { deviceOf } from './limits.ts';
import { refusalOf, type SignInNotice } from './page.ts';
import type { FurtherStep, Pending } from './sign-in.ts';
import type { SignInParts } from './runtime.ts';
import type { RowOf } from '../../kernel/table/define.ts';
import type { oneTimeCodeTable } from './tables.ts';

export interface OneTimeCodes {
  /** Codes are on only with a confirmed secret. */
  of(accountId: string): Promise<{ readonly isOn: boolean; readonly recoveryCodesLeft: number }>;
  /**
   * Starts the set-up with a new secret.
   * @returns false if codes are on
   */
  begin(accountId: string): Promise<boolean>;
  /** @returns the unconfirmed secret in base 32; null for none */
  waiting(accountId: string): Promise<string | null>;
  /**
   * Turns codes on if the code is right.
   * @returns the recovery codes, to be shown once; null for a wrong code
   * @throws ApiError conflict without an unconfirmed secret
   */
  confirm(accountId: string, code: string): Promise<readonly string[] | null>;
  /**
   * Consumes a current code or a recovery code.
   * @returns false for a wrong or used code
   */
  take(accountId: string, code: string): Promise<boolean>;
  /**
   * Replaces the recovery codes.
   * @throws ApiError conflict if codes are off
   */
  renewRecoveryCodes(accountId: string): Promise<readonly string[]>;
  turnOff(accountId: string): Promise<void>;
}

const periodSeconds = 30;
/** Length that RFC 4226 §4 recommends. */
const secretBytes = 20;

/** @returns base 32, the format of authenticator apps */
function newSecret(): string {
  return new Secret({ size: secretBytes }).base32;
}

/**
 * Returns the `otpauth:` URI for the QR code.
 * @param label e-mail address of the account
 */
export function addressOf(secret: string, label: string): string {
  return totp(secret, label).toString();
}

/**
 * Returns the time step that a code belongs to. Accepts the previous and the next step as well, because
 * clocks drift.
 * @param code user input; spaces are ignored
 * @returns null for a wrong code
 */
function stepOf(secret: string, code: string, nowMs: number): number | null {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const delta = totp(secret).validate({ token, timestamp: nowMs, window: 1 });
  return delta === null ? null : Math.floor(nowMs / 1000 / periodSeconds) + delta;
}

function totp(secret: string, label = 'account'): TOTP {
  // All authenticator apps support these parameters; other values are not portable.
  const usual = { algorithm: 'SHA1', digits: 6, period: periodSeconds };
  return new TOTP({ ...usual, issuer: 'Tatami', label, secret: Secret.fromBase32(secret) });
}

const count = 10;
/** 32 characters, five bits each, without letters that look like other characters. */
const letters = '0123456789abcdefghjkmnpqrstvwxyz';
const lettersEach = 24;

/**
 * Returns codes for people who lost their authenticator. Each has 120 random bits, so that a fast hash is
 * sufficient (OWASP ASVS 5.0 §6.5.2).
 */
function newRecoveryCodes(): string[] {
  return Array.from({ length: count }, () => {
    const text = Array.from(randomBytes(lettersEach), (byte) => letters[byte & 31]).join('');
    return text.replaceAll(/.{4}(?=.)/g, '$&-');
  });
}

/**
 * Ignores case, spaces and hyphens.
 * @returns null for a text without the length of a recovery code
 */
function hashOfRecoveryCode(code: string): string | null {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, '');
  return plain.length === lettersEach ? createHash('sha256').update(plain).digest('hex') : null;
}

const ofAccount = 'an account belongs to the installation, and so do its codes';

/** Changes nothing for an account whose codes are on. */
const putSecret = systemStatement(
  'one_time_codes.put',
  ofAccount,
  `INSERT INTO one_time_codes (id, secret_sealed, created_at, last_step) VALUES (:account, :secret, :now, 0)
   ON CONFLICT (id) DO UPDATE SET secret_sealed = :secret, created_at = :now WHERE confirmed_at IS NULL`,
);
const findSecret = systemStatement<Pick<RowOf<typeof oneTimeCodeTable>, 'secret_sealed' | 'confirmed_at'>>(
  'one_time_codes.of_account',
  ofAccount,
  'SELECT secret_sealed, confirmed_at FROM one_time_codes WHERE id = :account',
);
const confirmSecret = systemStatement(
  'one_time_codes.confirm',
  ofAccount,
  `UPDATE one_time_codes SET confirmed_at = :now, last_step = :step
   WHERE id = :account AND confirmed_at IS NULL AND secret_sealed = :secret`,
);
/**
 * Rejects a reused code: changes nothing for a step that is not later than the last used one (RFC 6238 §5.2).
 */
const useStep = systemStatement(
  'one_time_codes.use_step',
  ofAccount,
  'UPDATE one_time_codes SET last_step = :step WHERE id = :account AND confirmed_at IS NOT NULL AND last_step < :step',
);
const deleteSecret = systemStatement(
  'one_time_codes.delete',
  ofAccount,
  'DELETE FROM one_time_codes WHERE id = :account',
);

const insertRecoveryCode = systemStatement(
  'recovery_codes.insert',
  ofAccount,
  'INSERT INTO recovery_codes (account_id, code_hash) VALUES (:account, :hash)',
);
const useRecoveryCode = systemStatement(
  'recovery_codes.use',
  ofAccount,
  'DELETE FROM recovery_codes WHERE account_id = :account AND code_hash = :hash',
);
const deleteRecoveryCodes = systemStatement(
  'recovery_codes.delete',
  ofAccount,
  'DELETE FROM recovery_codes WHERE account_id = :account',
);
const countRecoveryCodes = systemStatement<{ left: number }>(
  'recovery_codes.left',
  ofAccount,
  'SELECT COUNT(*) AS left FROM recovery_codes WHERE account_id = :account',
);

export function createOneTimeCodes({ store, sealing, nowMs }: IdentityDeps): OneTimeCodes {
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
    async take(account, code) {
      const hash = hashOfRecoveryCode(code);
      if (hash !== null) return once(systemOp(useRecoveryCode, { account, hash }));
      const secret = await secretOf(account);
      const step = secret?.isOn ? stepOf(secret.text, code, nowMs()) : null;
      return step !== null && once(systemOp(useStep, { account, step }));
    },
    async renewRecoveryCodes(account) {
      if (!(await secretOf(account))?.isOn)
        throw new ApiError('conflict', 'One-time codes are off. Turn them on first.');
      const codes = newRecoveryCodes();
      await store.commit(recoveryCodeOps(account, codes));
      return codes;
    },
    async turnOff(account) {
      await store.commit(turnOffOps(account));
    },
  };
}

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
  return new ApiError(
    'conflict',
    'No set-up of one-time codes is in progress. Start again on your account page.',
  );
}

const path = '/sign-in/code';

/**
 * Second step of a sign-in: a one-time code or a recovery code. Limits for wrong codes equal those for wrong
 * passwords, but are counted separately.
 */
export function oneTimeCodeStep(codes: OneTimeCodes): FurtherStep {
  return { path, isSetUp: async (accountId) => (await codes.of(accountId)).isOn };
}

export function codeStepRoutes(parts: SignInParts): Route[] {
  const { services, signIn } = parts;
  const { baseUrl } = services;
  return [
    pageRoute(
      { method: 'GET', path, name: 'sign-in.code', summary: 'Ask for a one-time code' },
      async ({ headers }) => {
        const pending = await signIn.pending(headers);
        return pending ? codePage({ said: null }) : leadToSignIn(baseUrl, '/');
      },
    ),
    pageRoute(
      { method: 'POST', path, name: 'sign-in.submit_code', summary: 'Sign in with a one-time code' },
      async (request) => {
        const form = await readForm(request, baseUrl);
        const pending = await signIn.pending(request.headers);
        if (!pending) return leadToSignIn(baseUrl, '/');
        return attempt(parts, request, pending, form.get('code') ?? '');
      },
    ),
  ];
}

async function attempt(
  { services, signIn, limits, codes }: SignInParts,
  request: RawRequest,
  { account, to }: Pending,
  code: string,
): Promise<RawAnswer> {
  const { sealing, log } = services;
  const { peer, headers } = request;
  const device = deviceOf(sealing, headers, account.id);
  const counted = {
    subject: `code ${account.id}`,
    peer,
    device: device === null ? null : `code ${device}`,
  };
  const isCounted = limits.take(counted);
  if (isCounted && (await codes.take(account.id, code))) {
    limits.refund(counted);
    return signIn.finish(account.id, request, to, account);
  }
  log('info', 'sign-in refused: wrong code', { account: account.id, peer, isKnownDevice: device !== null });
  return codePage(
    refusalOf(
      isCounted ? null : limits.waitOf(counted),
      'This code is wrong, expired or was used before. Wait for the next code and enter that one.',
    ),
  );
}

function codePage({ said, ...answer }: SignInNotice): RawAnswer {
  const content = html`<p>Enter the six-digit code from your authenticator app.</p>
    ${said}
    <form method="post" action="${path}">
      <label
        >Code<small>Or a recovery code.</small
        ><input
          name="code"
          autocomplete="one-time-code"
          autocapitalize="none"
          maxlength="60"
          required
          autofocus
      /></label>
      <button>Sign in</button>
    </form>
    <p><a href="/sign-in">Sign in another way</a></p>`;
  return card('Enter your code', content, answer);
}
