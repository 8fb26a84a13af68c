// Stored headers are restored exactly and in their order, including values that are omitted from storage.
import { expect, test } from 'bun:test';
import { attemptHeaders } from '../attempt.ts';
import { packHeaders, unpackHeaders } from './sent-headers.ts';

const delivery = { id: 'dlv_1', event_id: 'evt_1', event_type: 'issue.created' };
const at = 1_795_332_142_572;
const secrets = ['whsec_c2VjcmV0', 'whsec_b3RoZXIx'];
const sent = (traceparent: string | null, secretsUsed = secrets, moment = at) =>
  attemptHeaders(
    { id: delivery.id, secrets: secretsUsed },
    { eventId: delivery.event_id, type: delivery.event_type, traceparent, payload: '{}' },
    moment,
    '1.2.3',
  );

test.each([
  ['one secret', sent(null, secrets.slice(0, 1))],
  ['two secrets', sent(null)],
  ['a trace', sent('00-abc-def-01')],
])('headers with %s are stored in less than half the size, and restored', (_, headers) => {
  const packed = packHeaders(headers, { delivery, at });
  expect(packed.length).toBeLessThan(JSON.stringify(headers).length * 0.6);
  expect(JSON.stringify(unpackHeaders(packed, { delivery, at }))).toBe(JSON.stringify(headers));
});

test.each([
  ['other headers', { 'X-Tatami-Signature': 'v1=abc', 'User-Agent': 'x' }],
  ['headers of another time', sent(null, secrets, at + 5_000)],
  ['no headers', {}],
  ['headers with an odd signature', { ...sent(null), 'X-Webhook-Signature': 'v1=ABC,t=1' }],
])('%s are stored unchanged', (_, headers) => {
  const packed = packHeaders(headers, { delivery, at });
  expect(JSON.parse(packed)).toEqual(headers);
  expect(JSON.stringify(unpackHeaders(packed, { delivery, at }))).toBe(JSON.stringify(headers));
});
