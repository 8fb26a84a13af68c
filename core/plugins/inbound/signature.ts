// Verifies the signature of inbound requests, in the scheme of outgoing webhooks (docs/spec/webhooks.md › Signature):
// `X-Webhook-Signature: v1=<hex>[,v1=…],t=<unix>` over `<t>.<raw body>`.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Largest difference between the signature's time and now, in seconds. */
export const windowSeconds = 300;

const headerCharsMax = 2_048;
const signaturesMax = 8;

/** @returns the valid signature as hex; null if there is none */
export function goodSignature(
  header: string | null,
  body: Uint8Array,
  secret: string,
  nowMs: number,
): string | null {
  if (header === null || header.length > headerCharsMax) return null;
  const parts = header.split(',').map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2));
  const signatures = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part)).map((part) => part.slice(3));
  const [time = ''] = times;
  if (
    times.length !== 1 ||
    !/^\d{1,12}$/.test(time) ||
    signatures.length === 0 ||
    signatures.length > signaturesMax
  )
    return null;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  const isGood = signatures.map((one) => timingSafeEqual(Buffer.from(one, 'hex'), expected)).includes(true);
  // The signature covers the time, so the time is trusted only if the signature is valid.
  const isInTime = Math.abs(Math.floor(nowMs / 1000) - Number(time)) <= windowSeconds;
  return isGood && isInTime ? expected.toString('hex') : null;
}
