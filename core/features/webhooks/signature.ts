/**
 * Signs one delivery attempt with both common schemes, from the same secret (docs/spec/webhooks.md › Signature;
 * standardwebhooks.com). `X-Webhook-Signature` is keyed with the whole `whsec_<base64>` string over `<t>.<body>`. Its
 * format is accepted by Stripe's verifier: no space after a comma, lower-case hex. The `webhook-*` headers are keyed
 * with the decoded remainder over `<id>.<t>.<body>`.
 * `webhook-id` is the id of the event and not of the delivery: the scheme requires the same id for every resend of a
 * message, and receivers deduplicate by it. An event therefore counts once, whether retried, replayed or read from
 * the feed. `X-Webhook-Delivery` identifies the delivery.
 */
export interface SignatureInput {
  /** `whsec_<base64>`, newest first; several while rotations overlap. */
  secrets: readonly string[];
  /** Exact bytes of the body. */
  payload: string | Uint8Array;
  timestampSeconds: number;
  deliveryId: string;
  eventId: string;
}

export type SignatureHeaders = Record<
  'X-Webhook-Signature' | 'X-Webhook-Delivery' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature',
  string
>;

const SECRET = /^whsec_([A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;

export function isSigningSecret(text: string): boolean {
  return SECRET.test(text);
}

/** @throws Error if there is no secret, a secret is malformed, or the time is not in whole seconds */
export function signatureHeaders(input: SignatureInput): SignatureHeaders {
  const { secrets, payload, eventId } = input;
  if (secrets.length === 0) throw new Error('A delivery needs at least one signing secret.');
  if (!secrets.every(isSigningSecret)) throw new Error('A signing secret must be whsec_<base64>.');
  if (!Number.isSafeInteger(input.timestampSeconds))
    throw new Error('The signature time must be in whole seconds.');
  const timestamp = String(input.timestampSeconds);
  const tagged = secrets.map((secret) => `v1=${sign(secret, `${timestamp}.`, payload, 'hex')}`);
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${sign(key, `${eventId}.${timestamp}.`, payload, 'base64')}`;
  });
  return {
    'X-Webhook-Signature': `${tagged.join(',')},t=${timestamp}`,
    'X-Webhook-Delivery': input.deliveryId,
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.join(' '),
  };
}

function sign(
  key: string | Buffer,
  prefix: string,
  payload: string | Uint8Array,
  encoding: 'hex' | 'base64',
): string {
  // Half the cost of `createHmac`, which is a stream.
  return new Bun.CryptoHasher('sha256', key).update(prefix).update(payload).digest(encoding);
}
