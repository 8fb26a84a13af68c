/**
 * Verifies a delivery by its `X-Webhook-Signature` header (docs/spec/webhooks.md › Signature): HMAC-SHA-256 over
 * `<t>.<raw body>`, keyed with the whole `whsec_…` string. Uses only Web Crypto, so it runs unchanged in Node, Bun,
 * Deno and workers; `crypto.subtle.verify` compares in constant time.
 */
import { WebhookVerificationError } from './error.ts';
import type { WebhookEvent } from './event.ts';

export interface VerifyOptions {
  /** Maximum difference between the signature's time and now, in either direction; default 300. */
  toleranceSeconds?: number;
  /** Receiver's clock, for tests. */
  nowSeconds?: number;
}

/** Overlapping rotations sign with up to five secrets. A header with many more entries would only consume time. */
const SIGNATURES_MAX = 8;
const HEADER_CHARACTERS_MAX = 2048;
const SIGNATURE = /^[0-9a-f]{64}$/;

/**
 * Returns the event if `payload`, the raw unparsed body, was signed with one of `secret`. Pass earlier secrets as
 * well during a rotation. Deduplicate by `event.id`, because a delivery can arrive more than once.
 * @throws WebhookVerificationError (as rejection) with a `code`; respond with 401.
 * @throws TypeError if the secret or the tolerance is unusable, which is an error in the receiver's configuration.
 */
export async function verify(
  payload: string | Uint8Array,
  header: string,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const { toleranceSeconds = 300, nowSeconds = Date.now() / 1000 } = options;
  if (!(toleranceSeconds >= 0))
    throw new TypeError('toleranceSeconds must be a number of seconds, at least 0.');
  const secrets = readSecrets(secret);
  const { timestamp, signatures } = readHeader(header);
  const body = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload;
  const signed = concat(new TextEncoder().encode(`${timestamp}.`), body);

  const matches = await Promise.all(secrets.map((each) => matchesAny(each, signatures, signed)));
  if (!matches.includes(true)) {
    throw new WebhookVerificationError(
      'signature_mismatch',
      'No signature matches. Check that the secret is that of the endpoint and that the body is raw and unparsed.',
    );
  }
  // The time is signed, so it is trustworthy only once a signature matches.
  const ageSeconds = Math.floor(nowSeconds) - Number(timestamp);
  if (!(ageSeconds <= toleranceSeconds)) {
    throw new WebhookVerificationError(
      'timestamp_too_old',
      `The signature is ${ageSeconds} s old; at most ${toleranceSeconds} s is accepted. Check the clock of this machine.`,
    );
  }
  if (!(ageSeconds >= -toleranceSeconds)) {
    throw new WebhookVerificationError(
      'timestamp_too_new',
      `The signature is ${-ageSeconds} s in the future; check the clock of this machine.`,
    );
  }
  return readEvent(body);
}

function readSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  // An unset variable must never become an empty key, with which anyone can sign.
  if (
    secrets.length === 0 ||
    !secrets.every((each) => typeof each === 'string' && /^whsec_\S+$/.test(each))
  ) {
    throw new TypeError(
      'secret must be the full whsec_… string shown when the endpoint was created, or a list of such strings.',
    );
  }
  return secrets;
}

function readHeader(header: string): { timestamp: string; signatures: Uint8Array<ArrayBuffer>[] } {
  if (typeof header !== 'string' || header.length > HEADER_CHARACTERS_MAX) throw malformed();
  const timestamps: string[] = [];
  const signatures: Uint8Array<ArrayBuffer>[] = [];
  for (const part of header.split(',')) {
    const at = part.indexOf('=');
    const [name, value] = [part.slice(0, at), part.slice(at + 1)];
    if (name === 't') timestamps.push(value);
    // Unknown entries are ignored, because other schemes may be added in addition to v1.
    if (name === 'v1' && SIGNATURE.test(value)) signatures.push(fromHex(value));
  }
  const [timestamp = ''] = timestamps;
  const isReadable = timestamps.length === 1 && /^\d{1,12}$/.test(timestamp);
  if (!isReadable || signatures.length === 0 || signatures.length > SIGNATURES_MAX) throw malformed();
  return { timestamp, signatures };
}

function malformed(): WebhookVerificationError {
  return new WebhookVerificationError(
    'malformed_header',
    'X-Webhook-Signature must be v1=<64 hex>[,v1=…],t=<unix seconds>.',
  );
}

async function matchesAny(
  secret: string,
  signatures: Uint8Array<ArrayBuffer>[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, [
    'verify',
  ]);
  const results = await Promise.all(
    signatures.map((each) => crypto.subtle.verify('HMAC', key, each, signed)),
  );
  return results.includes(true);
}

function readEvent(body: Uint8Array): WebhookEvent {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new WebhookVerificationError(
      'malformed_payload',
      'The body is not JSON in UTF-8. Pass the raw body of the request.',
      { cause },
    );
  }
  if (!isEvent(event))
    throw new WebhookVerificationError(
      'malformed_payload',
      'The body is not an event: it must have id, type and data.',
    );
  return event;
}

/** Checks only the fields common to all events; the signature guarantees the rest. */
function isEvent(value: unknown): value is WebhookEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { id, type, data } = value as Record<string, unknown>;
  return typeof id === 'string' && typeof type === 'string' && typeof data === 'object' && data !== null;
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16),
  );
}

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(head.byteLength + tail.byteLength);
  joined.set(head);
  joined.set(tail, head.byteLength);
  return joined;
}
