// One-time codes (RFC 6238): six digits that an app on another device makes of a shared secret, another six each half minute.
import { Secret, TOTP } from 'otpauth';

const periodSeconds = 30;
/** 160 bits, as RFC 4226 §4 recommends. */
const secretBytes = 20;

/** @returns a new secret, in base 32 as apps take it */
export function newSecret(): string {
  return new Secret({ size: secretBytes }).base32;
}

/** The address in a QR code by which an app learns a secret. @param label the e-mail address of the account */
export function addressOf(secret: string, label: string): string {
  return totp(secret, label).toString();
}

/**
 * The step whose code was given: that of this moment, the one before or the one after, for clocks that differ.
 * @param code what somebody typed; spaces in it count for nothing
 * @returns null for no code of these
 */
export function stepOf(secret: string, code: string, nowMs: number): number | null {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const delta = totp(secret).validate({ token, timestamp: nowMs, window: 1 });
  return delta === null ? null : Math.floor(nowMs / 1000 / periodSeconds) + delta;
}

function totp(secret: string, label = 'account'): TOTP {
  // What apps agree on: SHA-1, six digits, thirty seconds.
  const usual = { algorithm: 'SHA1', digits: 6, period: periodSeconds };
  return new TOTP({ ...usual, issuer: 'Tatami', label, secret: Secret.fromBase32(secret) });
}
