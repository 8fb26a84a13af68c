/**
 * Independent verifiers accept the signatures and reject every change. The vectors are public contract: a receiver in
 * any language can be tested against them.
 */
import { describe, expect, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
// Imported by path: the package's Bun build uses Web Crypto, with which constructEvent cannot be synchronous; this is
// the Node build.
import Stripe from '../../../node_modules/stripe/esm/stripe.esm.node.js';
import { signatureHeaders } from './signature.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const OLD_SECRET = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';
const PAYLOAD = '{"id":"evt_0","type":"webhook.ping","data":{"text":"grüße"}}';
const IDS = { deliveryId: 'dlv_0', eventId: 'evt_0' };
const NOW_SECONDS = Math.floor(Date.now() / 1000);

const signed = (secrets: string[] = [SECRET], timestampSeconds = NOW_SECONDS) =>
  signatureHeaders({ secrets, payload: PAYLOAD, timestampSeconds, ...IDS });

describe('published vectors', () => {
  // Made with openssl: printf '%s' "$t.$body" | openssl dgst -sha256 -hmac "$secret", and for the second scheme
  // printf '%s' "$id.$t.$body" | openssl dgst -sha256 -mac HMAC -macopt hexkey:<decoded secret> -binary | base64
  test('one secret', () => {
    expect(signed([SECRET], 1_700_000_000)).toEqual({
      'X-Webhook-Signature':
        'v1=e32b1a557a09acdd6ffa19cb71ea8d15d7e5bbff6171448ea91ac982ce229599,t=1700000000',
      'X-Webhook-Delivery': 'dlv_0',
      'webhook-id': 'evt_0',
      'webhook-timestamp': '1700000000',
      'webhook-signature': 'v1,nbZ3j2n4+FxLnYhX0jqjxa0qDkvZfTRz5/lFdbpD+VQ=',
    });
  });

  test('two secrets in a rotation, the newer first', () => {
    const headers = signed([SECRET, OLD_SECRET], 1_700_000_000);
    expect(headers['X-Webhook-Signature']).toBe(
      'v1=e32b1a557a09acdd6ffa19cb71ea8d15d7e5bbff6171448ea91ac982ce229599,v1=04f81d46d9c3f6c6827e9bcf456c8d9839d9e3e459ca99c33b5aa9a6a758390a,t=1700000000',
    );
    expect(headers['webhook-signature']).toBe(
      'v1,nbZ3j2n4+FxLnYhX0jqjxa0qDkvZfTRz5/lFdbpD+VQ= v1,OSSiN/72jRUuBy9pk5K4h4KE5UOdKfVYBd9j77VGKGw=',
    );
  });
});

test('bytes and text of the same payload have the same signature', () => {
  const bytes = signatureHeaders({
    secrets: [SECRET],
    payload: new TextEncoder().encode(PAYLOAD),
    timestampSeconds: NOW_SECONDS,
    ...IDS,
  });
  expect(bytes).toEqual(signed());
});

describe('the unmodified stripe package', () => {
  const { webhooks } = new Stripe('sk_test_unused');
  const accepts = (payload: string, header: string, secret: string): boolean => {
    try {
      webhooks.constructEvent(payload, header, secret);
      return true;
    } catch (error) {
      if (error instanceof Stripe.errors.StripeSignatureVerificationError) return false;
      throw error;
    }
  };

  test('accepts one secret, and both secrets during a rotation', () => {
    expect(accepts(PAYLOAD, signed()['X-Webhook-Signature'], SECRET)).toBe(true);
    const both = signed([SECRET, OLD_SECRET])['X-Webhook-Signature'];
    expect([SECRET, OLD_SECRET].map((secret) => accepts(PAYLOAD, both, secret))).toEqual([true, true]);
  });

  test('rejects an altered body, time or signature, another secret, and an old message', () => {
    const header = signed()['X-Webhook-Signature'];
    expect(accepts(PAYLOAD.replace('ping', 'pong'), header, SECRET)).toBe(false);
    expect(accepts(PAYLOAD, header.replace(/t=\d+/, `t=${NOW_SECONDS - 1}`), SECRET)).toBe(false);
    expect(
      accepts(
        PAYLOAD,
        header.replace(/v1=./, (start) => (start === 'v1=0' ? 'v1=1' : 'v1=0')),
        SECRET,
      ),
    ).toBe(false);
    expect(accepts(PAYLOAD, header, OLD_SECRET)).toBe(false);
    expect(accepts(PAYLOAD, signed([SECRET], NOW_SECONDS - 600)['X-Webhook-Signature'], SECRET)).toBe(false);
  });
});

describe('the unmodified standardwebhooks package', () => {
  const accepts = (payload: string, headers: Record<string, string>, secret: string): boolean => {
    try {
      new Webhook(secret).verify(payload, headers);
      return true;
    } catch (error) {
      if (error instanceof Error && error.name === 'WebhookVerificationError') return false;
      throw error;
    }
  };

  test('accepts one secret, and both secrets during a rotation', () => {
    expect(accepts(PAYLOAD, signed(), SECRET)).toBe(true);
    const both = signed([SECRET, OLD_SECRET]);
    expect([SECRET, OLD_SECRET].map((secret) => accepts(PAYLOAD, both, secret))).toEqual([true, true]);
  });

  test('rejects an altered body, id or time, another secret, and a message from the past or the future', () => {
    const headers = signed();
    expect(accepts(PAYLOAD.replace('ping', 'pong'), headers, SECRET)).toBe(false);
    expect(accepts(PAYLOAD, { ...headers, 'webhook-id': 'evt_1' }, SECRET)).toBe(false);
    expect(accepts(PAYLOAD, { ...headers, 'webhook-timestamp': String(NOW_SECONDS - 1) }, SECRET)).toBe(
      false,
    );
    expect(accepts(PAYLOAD, headers, OLD_SECRET)).toBe(false);
    for (const shift of [-600, 600])
      expect(accepts(PAYLOAD, signed([SECRET], NOW_SECONDS + shift), SECRET)).toBe(false);
  });
});

test('no signature is made without a valid secret and time', () => {
  for (const secrets of [[], [''], ['whsec_'], ['secret'], ['whsec_not base64'], [SECRET, 'whsec_a']]) {
    expect(() => signed(secrets)).toThrow(/secret/);
  }
  for (const time of [1.5, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => signed([SECRET], time)).toThrow(/whole seconds/);
});
