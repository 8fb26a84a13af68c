// Checks what a sender signed, by the scheme that our own webhooks are signed with (docs/spec/webhooks.md › Signature):
// `X-Webhook-Signature: v1=<hex>[,v1=…],t=<unix>` over `<t>.<raw body>`.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far the time of a signature may lie from now. */
export const windowSeconds = 300;

const headerCharsMax = 2_048;
const signaturesMax = 8;

/** @returns the signature that is good, as hex; null where none is, whatever the reason */
export function goodSignature(
  header: string | null,
  body: Uint8Array,
  secret: string,
  nowMs: number,
): string | null {
  if (header === null || header.length > headerCharsMax) return null;
  const parts = header.split(',').map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2));
  const given = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part)).map((part) => part.slice(3));
  const [time = ''] = times;
  if (times.length !== 1 || !/^\d{1,12}$/.test(time) || given.length === 0 || given.length > signaturesMax)
    return null;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  const isGood = given.map((one) => timingSafeEqual(Buffer.from(one, 'hex'), expected)).includes(true);
  // The time proves something only once the signature is good.
  const isInTime = Math.abs(Math.floor(nowMs / 1000) - Number(time)) <= windowSeconds;
  return isGood && isInTime ? expected.toString('hex') : null;
}
