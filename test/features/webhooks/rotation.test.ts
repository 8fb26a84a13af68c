// Signing secrets are rotated without an outage: old secrets sign during the overlap, and the audit log shows the last
// use of the secret before.
import { expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { hooksOfFile, startHooks, type Received } from './receiver.ts';
import { stripeVerifier } from './stripe.ts';

const hour = 3_600_000;
const stripe = await stripeVerifier();
const { hooks, receiver } = await hooksOfFile();

const rotate = (endpoint: Json, body: object = {}, headers?: Record<string, string>) =>
  hooks.call('POST', `/api/v1/webhooks/${endpoint.id}/rotate`, body, headers);

/** Creates an issue and returns the request that the receiver got. */
async function deliverOne(): Promise<Received> {
  receiver.received.length = 0;
  await hooks.file('One');
  await hooks.app.settled();
  expect(receiver.received.length).toBe(1);
  return receiver.received[0]!;
}

function accepts(secret: string, { headers, body }: Received): boolean {
  try {
    stripe.constructEvent(
      body,
      headers.get('x-webhook-signature')!,
      secret,
      300,
      undefined,
      hooks.app.clock.now(),
    );
    return true;
  } catch {
    return false;
  }
}

async function withEndpoint(work: (endpoint: Json) => Promise<void>): Promise<void> {
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'] });
  await work(endpoint);
  await hooks.call('DELETE', `/api/v1/webhooks/${endpoint.id}`);
}

test('both secrets sign for 24 hours, the new one first, and then only the new one', () =>
  withEndpoint(async (endpoint) => {
    const { status, json: rotated } = await rotate(endpoint);
    expect(status).toBe(200);
    expect(rotated).toEqual({
      id: endpoint.id,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
      previousSecretExpiresAt: new Date(hooks.app.clock.now() + 24 * hour).toISOString(),
      version: 2,
    });
    const during = await deliverOne();
    expect([accepts(rotated.secret, during), accepts(endpoint.secret, during)]).toEqual([true, true]);
    const [first] = during.headers.get('x-webhook-signature')!.split(',');
    hooks.app.clock.advance(24 * hour - 1);
    expect(accepts(endpoint.secret, await deliverOne())).toBe(true);
    hooks.app.clock.advance(1);
    const after = await deliverOne();
    expect([accepts(rotated.secret, after), accepts(endpoint.secret, after)]).toEqual([true, false]);
    expect(after.headers.get('x-webhook-signature')!.match(/v1=/g)).toHaveLength(1);
    expect(first).toStartWith('v1=');
  }));

test('a retry is signed with the secrets of its own time', () =>
  withEndpoint(async (endpoint) => {
    receiver.answer = () => new Response(null, { status: 500 });
    const before = await deliverOne();
    receiver.answer = () => new Response();
    const { json } = await rotate(endpoint, { overlapHours: 0 });
    receiver.received.length = 0;
    hooks.app.clock.advance(6_000);
    await hooks.app.settled();
    const [again] = receiver.received;
    expect(again!.headers.get('x-webhook-delivery')).toBe(before.headers.get('x-webhook-delivery'));
    expect([accepts(json.secret, again!), accepts(endpoint.secret, again!)]).toEqual([true, false]);
  }));

test('an overlap is 0 to 168 hours, limits every earlier secret, and 0 ends them all at once', () =>
  withEndpoint(async (endpoint) => {
    for (const [overlapHours, issue] of [
      [-1, 'too_small'],
      [169, 'too_big'],
      [1.5, 'invalid_type'],
    ] as const) {
      const { status, json } = await rotate(endpoint, { overlapHours });
      expect([status, json.error.details]).toMatchObject([422, [{ path: 'overlapHours', issue }]]);
    }
    const { json: second } = await rotate(endpoint, { overlapHours: 168 });
    const { json: third } = await rotate(endpoint, { overlapHours: 2 });
    const all = [third.secret, second.secret, endpoint.secret];
    const signs = async (): Promise<boolean[]> => {
      const received = await deliverOne();
      return all.map((secret) => accepts(secret, received));
    };
    expect(await signs()).toEqual([true, true, true]);
    hooks.app.clock.advance(2 * hour);
    expect(await signs()).toEqual([true, false, false]);
    const { json: fourth } = await rotate(endpoint, { overlapHours: 168 });
    all.unshift(fourth.secret);
    expect(await signs()).toEqual([true, true, false, false]);
    const { json: fifth } = await rotate(endpoint, { overlapHours: 0 });
    all.unshift(fifth.secret);
    expect(await signs()).toEqual([true, false, false, false, false]);
  }));

test('at most four earlier secrets sign at once', () =>
  withEndpoint(async (endpoint) => {
    for (let n = 0; n < 4; n++) expect((await rotate(endpoint)).status).toBe(200);
    const { status, json } = await rotate(endpoint);
    expect([status, json.error.code, json.error.message]).toEqual([
      409,
      'conflict',
      expect.stringContaining('overlapHours 0'),
    ]);
    expect((await rotate(endpoint, { overlapHours: 0 })).status).toBe(200);
  }));

test('the log and the audit show the actor and time of a rotation, and the last success of the secret before', () =>
  withEndpoint(async (endpoint) => {
    const from = await hooks.app.lastSequence();
    await rotate(endpoint, { overlapHours: 0 });
    await deliverOne();
    const succeededAt = new Date(hooks.app.clock.now()).toISOString();
    hooks.app.clock.advance(hour);
    receiver.answer = () => new Response(null, { status: 500 });
    await deliverOne();
    receiver.answer = () => new Response();
    const rotatedAt = hooks.app.clock.now();
    await rotate(endpoint, { overlapHours: 48 });
    await rotate(endpoint, { overlapHours: 48 });
    const { json } = await hooks.call('GET', `/api/v1/events?after=${from}&types=webhook.*`);
    expect(json.data).toMatchObject(
      [null, succeededAt, null].map((previousSecretLastSucceededAt) => ({
        type: 'webhook.secret_rotated',
        actor: { kind: 'api_key' },
        data: { id: endpoint.id, previousSecretLastSucceededAt },
      })),
    );
    expect(json.data[1]).toMatchObject({
      created_at: new Date(rotatedAt).toISOString(),
      data: { previousSecretExpiresAt: new Date(rotatedAt + 48 * hour).toISOString() },
    });
    const { json: audit } = await hooks.call('GET', `/api/v1/audit-log?target=${endpoint.id}`);
    expect(audit.data.slice(0, 3).toReversed()).toMatchObject(
      [null, succeededAt, null].map((previousSecretLastSucceededAt) => ({
        action: 'webhook.secret_rotated',
        actor: { kind: 'api_key', id: expect.stringMatching(/^key_/) },
        details: { previousSecretLastSucceededAt },
      })),
    );
    expect(JSON.stringify([json.data, audit])).not.toContain('whsec_');
  }));

test('the last success persists across a restart', async () => {
  const local = await startHooks();
  const endpoint = await local.register(receiver.url, { events: ['issue.created'] });
  await local.file('One');
  await local.app.settled();
  const succeededAt = new Date(local.app.clock.now()).toISOString();
  const again = await local.app.restart();
  again.clock.advance(hour);
  await again.call('POST', `/api/v1/webhooks/${endpoint.id}/rotate`, {});
  const { json } = await again.call('GET', `/api/v1/webhooks/${endpoint.id}`);
  expect(json.previousSecretLastSucceededAt).toBe(succeededAt);
  await again.stop();
});

test('a repeated rotation under one idempotency key is one rotation, and returns the same secret', () =>
  withEndpoint(async (endpoint) => {
    const key = { 'idempotency-key': 'rotate-once' };
    const { json: first } = await rotate(endpoint, {}, key);
    const { json: second, headers } = await rotate(endpoint, {}, key);
    expect([second, headers.get('idempotent-replayed')]).toEqual([first, 'true']);
    expect(accepts(first.secret, await deliverOne())).toBe(true);
  }));
