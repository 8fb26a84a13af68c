// Known devices: a cookie lists the accounts that have signed in with a browser, so that failures on these
// devices are counted separately from others (limits.ts). The cookie does not sign in. Each entry is signed
// for its account.
import { randomBytes } from 'node:crypto';
import { cookieLine, cookieOf } from '../../kernel/html.ts';
import type { Sealing } from '../../platform/lib/secrets/sealing.ts';

const cookie = 'tatami-device';
const purpose = 'device';
/** Maximum lifetime that browsers allow for a cookie (RFC 6265bis §5.5). */
const cookieSeconds = 400 * 86_400;
/** Maximum number of accounts in the cookie; the most recent ones remain. */
const accountsMax = 5;
const nonceBytes = 16;

/**
 * @returns an identifier of the device if the cookie proves an earlier sign-in to the account; null otherwise
 */
export function deviceOf(sealing: Sealing, headers: Headers, accountId: string): string | null {
  const [nonce = '', ...tags] = partsOf(headers);
  const text = `${nonce} ${accountId}`;
  return tags.some((tag) => sealing.verify(text, purpose, tag)) ? text : null;
}

/** Returns the `Set-Cookie` line that makes the browser a known device of the account. */
export function rememberDevice(sealing: Sealing, headers: Headers, accountId: string): string {
  const [known, ...tags] = partsOf(headers);
  const nonce = known ?? randomBytes(nonceBytes).toString('base64url');
  const mine = sealing.sign(`${nonce} ${accountId}`, purpose);
  const retained = [mine, ...tags.filter((tag) => tag !== mine)].slice(0, accountsMax);
  return cookieLine(cookie, [nonce, ...retained].join('.'), cookieSeconds);
}

function partsOf(headers: Headers): string[] {
  const value = cookieOf(headers, cookie);
  return value !== null && /^[\w-]{22}(\.[\w-]{22}){1,5}$/.test(value) ? value.split('.') : [];
}
