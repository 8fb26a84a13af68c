// Known devices: a browser in which somebody signed in keeps a cookie that says to which accounts. It signs nobody in; it only has
// failures counted apart from those of strangers (limits.ts). Each entry is signed for its account, so that none can be made up.
import { randomBytes } from 'node:crypto';
import { cookieLine, cookieOf } from '../../html/cookie.ts';
import type { Sealing } from '../../lib/sealing.ts';

const cookie = 'tatami-device';
const purpose = 'device';
/** Browsers keep no cookie for longer (RFC 6265bis §5.5). */
const keptSeconds = 400 * 86_400;
/** Accounts that one browser is remembered for; those signed in to last. */
const accountsMax = 5;
const nonceBytes = 16;

/** A device of that account, by the cookie of a request; null for an unknown one. @returns a name to count by */
export function deviceOf(sealing: Sealing, headers: Headers, accountId: string): string | null {
  const [nonce = '', ...tags] = partsOf(headers);
  const text = `${nonce} ${accountId}`;
  return tags.some((tag) => sealing.verify(text, purpose, tag)) ? text : null;
}

/** The `Set-Cookie` line by which a browser is known to an account from now on. */
export function rememberDevice(sealing: Sealing, headers: Headers, accountId: string): string {
  const [known, ...tags] = partsOf(headers);
  const nonce = known ?? randomBytes(nonceBytes).toString('base64url');
  const mine = sealing.sign(`${nonce} ${accountId}`, purpose);
  const kept = [mine, ...tags.filter((tag) => tag !== mine)].slice(0, accountsMax);
  return cookieLine(cookie, [nonce, ...kept].join('.'), keptSeconds);
}

function partsOf(headers: Headers): string[] {
  const value = cookieOf(headers, cookie);
  return value !== null && /^[\w-]{22}(\.[\w-]{22}){1,5}$/.test(value) ? value.split('.') : [];
}
