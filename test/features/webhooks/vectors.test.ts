// The core and every verifier agree on the test vectors in docs/webhooks.md, against which receivers in any language
// are written.
import { afterAll, beforeEach, describe, expect, setSystemTime, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verify } from '@tatami/sdk/webhooks';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from '../../../core/features/webhooks/signature.ts';
import { stripeVerifier } from './stripe.ts';

interface Vector {
  name: string;
  secrets: string[];
  body: string;
  headers: Record<'X-Webhook-Signature' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>;
}

const page = readFileSync(join(import.meta.dir, '../../../docs/webhooks.md'), 'utf8');
const [, json = ''] = /### Test vectors[^#]*?```json\n([^`]*)```/.exec(page) ?? [];
const vectors: Vector[] = JSON.parse(json);
const stripe = await stripeVerifier();
const stranger = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;

test('the vectors cover one secret, a rotation, a body beyond ASCII, and a minimal body', () => {
  expect(vectors.map(({ secrets }) => secrets.length)).toContain(2);
  expect(vectors.some(({ body }) => Buffer.byteLength(body) > body.length)).toBe(true);
  expect(vectors.some(({ body }) => body === '{}')).toBe(true);
});

const taken = async (work: () => unknown): Promise<boolean> => {
  try {
    await work();
    return true;
  } catch (error) {
    // The signature is valid, and the body is no event.
    return (error as { code?: string }).code === 'malformed_payload';
  }
};

/** Results of Stripe's verifier, of Standard Webhooks' and of ours. */
async function takenBy({ body, headers }: Vector, secret: string): Promise<boolean[]> {
  const header = headers['X-Webhook-Signature'];
  return Promise.all([
    taken(() => stripe.constructEvent(body, header, secret, 300, undefined, Date.now())),
    taken(() => new Webhook(secret).verify(body, headers)),
    taken(() => verify(body, header, secret)),
  ]);
}
const all = [true, true, true];
const none = [false, false, false];

describe.each(vectors.map((vector) => [vector.name, vector] as const))('%s', (_, vector) => {
  const seconds = Number(vector.headers['webhook-timestamp']);
  beforeEach(() => void setSystemTime(seconds * 1000));
  afterAll(() => void setSystemTime());

  test('equals the signature of the core', () => {
    const { 'X-Webhook-Delivery': _delivery, ...headers } = signatureHeaders({
      secrets: vector.secrets,
      payload: vector.body,
      timestampSeconds: seconds,
      deliveryId: 'dlv_0',
      eventId: vector.headers['webhook-id'],
    });
    expect(headers).toEqual(vector.headers);
  });

  test('is accepted by every verifier with every secret, up to 300 s later', async () => {
    for (const secret of vector.secrets) {
      expect(await takenBy(vector, secret)).toEqual(all);
      setSystemTime((seconds + 300) * 1000);
      expect(await takenBy(vector, secret)).toEqual(all);
    }
  });

  test('is refused 301 s later, with another secret, and with a changed body, time or signature', async () => {
    const [secret = ''] = vector.secrets;
    const { headers } = vector;
    expect(await takenBy(vector, stranger)).toEqual(none);
    expect(await takenBy({ ...vector, body: `${vector.body} ` }, secret)).toEqual(none);
    const later = String(seconds + 1);
    const moved = {
      ...headers,
      'X-Webhook-Signature': headers['X-Webhook-Signature'].replace(/t=\d+/, `t=${later}`),
      'webhook-timestamp': later,
    };
    expect(await takenBy({ ...vector, headers: moved }, secret)).toEqual(none);
    setSystemTime((seconds + 301) * 1000);
    expect(await takenBy(vector, secret)).toEqual(none);
  });
});
