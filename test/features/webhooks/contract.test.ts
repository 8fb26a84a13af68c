/** The client library verifies the signatures of the core and has the same list of event types. */
import { expect, test } from 'bun:test';
import { EVENT_TYPES, verify } from '@tatami/sdk/webhooks';
import { eventTypes } from '../../../core/kernel/events/catalogue.ts';
import { signatureHeaders } from '../../../core/features/webhooks/signature.ts';

test('the client library verifies a delivery of the core with either secret of a rotation', async () => {
  const secrets = [1, 2].map((seed) => `whsec_${Buffer.alloc(32, seed).toString('base64')}`);
  const payload = JSON.stringify({ id: 'evt_1', type: 'webhook.ping', data: {} });
  const headers = signatureHeaders({
    secrets,
    payload,
    timestampSeconds: 1_800_000_000,
    deliveryId: 'dlv_1',
    eventId: 'evt_1',
  });
  for (const secret of secrets) {
    const event = await verify(payload, headers['X-Webhook-Signature'], secret, {
      nowSeconds: 1_800_000_000,
    });
    expect(event.id).toBe('evt_1');
  }
});

test('the client library has exactly the event types of the core', () => {
  expect(EVENT_TYPES.map(String).toSorted()).toStrictEqual(eventTypes.map(String).toSorted());
});
