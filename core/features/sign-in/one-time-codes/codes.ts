// One-time codes (RFC 6238): six digits derived from a shared secret and the time.
import { Secret, TOTP } from 'otpauth';

const periodSeconds = 30;
/** Length that RFC 4226 §4 recommends. */
const secretBytes = 20;

/** @returns base 32, the format of authenticator apps */
export function newSecret(): string {
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
export function stepOf(secret: string, code: string, nowMs: number): number | null {
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
