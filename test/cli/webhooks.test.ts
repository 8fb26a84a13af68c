// `tatami webhooks` and `deliveries`: endpoints, deliveries and replays on the command line.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { verify } from '@tatami/sdk/webhooks';
import type { Json } from '../app.ts';
import { startHooks, startReceiver, type Hooks, type Receiver } from '../features/webhooks/receiver.ts';
import { tatami, temporary } from './tatami.ts';

const dir = temporary();
let hooks: Hooks;
let receiver: Receiver;
beforeAll(async () => {
  hooks = await startHooks();
  receiver = startReceiver();
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
  dir[Symbol.dispose]();
});

const state = dir.path('state');
const env = () => ({
  TATAMI_SERVER: hooks.app.url,
  TATAMI_TOKEN: hooks.app.workspace.apiKey,
  XDG_STATE_HOME: state,
});
const run = (...args: string[]) => tatami([...args, '--json'], env());
const said = (...args: string[]) => tatami(args, env());

/** Creates an endpoint at the receiver with one delivered issue. */
async function delivered(): Promise<{ endpoint: Json; delivery: Json }> {
  const endpoint = (await run('webhooks', 'create', '--url', receiver.url, '--events', 'issue.created')).json;
  await hooks.file('Über – 日本');
  await hooks.app.settled();
  const [delivery] = await hooks.deliveries(endpoint);
  return { endpoint, delivery };
}

test('an endpoint is registered with all options, its secret is shown once, and it is listed', async () => {
  const { code, json } = await run(
    ...['webhooks', 'create'],
    ...['--url', receiver.url, '--events', 'issue.created, issue.updated', '--ordering', 'entity'],
    ...['--description', 'for the shop', '--filter', '{"priority":"urgent"}'],
  );
  expect([code, json.enabled]).toEqual([0, true]);
  expect(json.secret).toStartWith('whsec_');
  const listed = await run('webhooks', 'list');
  expect(listed.json).toMatchObject([
    {
      id: json.id,
      events: ['issue.created', 'issue.updated'],
      ordering: 'entity',
      description: 'for the shop',
      filter: { priority: 'urgent' },
    },
  ]);
  expect(listed.out).not.toContain(json.secret);
  expect((await said('webhooks', 'list')).out).toMatch(
    new RegExp(`^${json.id} +${receiver.url} +issue.created, issue.updated +entity +yes +for the shop$`, 'm'),
  );
  const output = await said('webhooks', 'create', '--url', receiver.url, '--events', 'comment.*');
  expect(output.out).toMatch(/^id +whe_\w{26}$/m);
  expect(output.out).toMatch(/^secret +whsec_\S+$/m);
  expect(output.err).toContain('The secret is shown only once.');
});

test('a delivery is listed, shown with its attempt, and replayed as a new delivery of the same event', async () => {
  const { endpoint, delivery } = await delivered();
  const listed = await run('webhooks', 'deliveries', endpoint.id, '--status', 'delivered', '--limit', '1');
  expect(listed.json).toMatchObject([{ id: delivery.id, eventType: 'issue.created', attempts: 1 }]);
  expect((await said('webhooks', 'deliveries', endpoint.id)).out).toMatch(
    new RegExp(`^${delivery.id} +delivered +1 +issue.created +${delivery.eventId} +event +`, 'm'),
  );
  const output = await said('deliveries', 'show', delivery.id);
  expect(output.out).toContain('→ 200');
  expect(output.out).toContain(`> X-Webhook-Delivery: ${delivery.id}`);
  expect(output.out).toContain('Über – 日本');

  receiver.received.length = 0;
  const again = await run('deliveries', 'replay', delivery.id);
  expect([again.code, again.json]).toMatchObject([
    0,
    { eventId: delivery.eventId, origin: 'replay', status: 'delivered', attemptList: [{ statusCode: 200 }] },
  ]);
  expect(receiver.received).toHaveLength(1);
  const [got] = receiver.received;
  expect(got?.headers.get('x-webhook-delivery')).toBe(again.json.id);
  expect(again.json.id).not.toBe(delivery.id);
  const repeated = (await said('deliveries', 'replay', delivery.id)).out;
  expect(repeated).toMatch(
    new RegExp(`dlv_\\w+ +delivered +1 attempt .*${delivery.eventId}.*\\(replay\\)\\n`),
  );
  expect(repeated).toMatch(/^ {2}attempt 1 .*→ 200 {2}\d+ ms$/m);
});

test('a secret is rotated with an overlap or without one', async () => {
  const endpoint = (await run('webhooks', 'create', '--url', receiver.url, '--events', 'issue.created')).json;
  const { json } = await run('webhooks', 'rotate', endpoint.id, '--overlap-hours', '48');
  expect(json).toMatchObject({
    id: endpoint.id,
    previousSecretExpiresAt: new Date(hooks.app.clock.now() + 48 * 3_600_000).toISOString(),
  });
  receiver.received.length = 0;
  await hooks.file('One');
  await hooks.app.settled();
  const { body, headers } = receiver.received.find(({ headers }) =>
    /v1=.*v1=/.test(headers.get('x-webhook-signature')!),
  )!;
  const nowSeconds = hooks.app.clock.now() / 1000;
  for (const secret of [json.secret, endpoint.secret])
    expect((await verify(body, headers.get('x-webhook-signature')!, secret, { nowSeconds })).type).toBe(
      'issue.created',
    );
  const output = await said('webhooks', 'rotate', endpoint.id, '--overlap-hours', '0');
  expect(output.out).toMatch(/^secret +whsec_\S+$/m);
  expect(output.err).toContain('The secret is shown only once.');
});

test('deliveries of all endpoints are listed by status, type and time', async () => {
  const { endpoint, delivery } = await delivered();
  hooks.app.clock.advance(3_600_000);
  receiver.answer = () => new Response(null, { status: 500 });
  await hooks.file('Two');
  await hooks.app.settled();
  receiver.answer = () => new Response();
  const ids = async (...args: string[]): Promise<string[]> =>
    (await run('deliveries', 'list', ...args, '--all')).json
      .filter(({ webhookId }: Json) => webhookId === endpoint.id)
      .map(({ id }: Json) => id);
  const [latest] = await ids();
  expect(await ids()).toEqual([latest!, delivery.id]);
  expect(await ids('--status', 'retrying')).toEqual([latest!]);
  expect(await ids('--since', new Date(hooks.app.clock.now()).toISOString())).toEqual([latest!]);
  expect(await ids('--event-type', 'comment.added')).toEqual([]);
  const retrying = (await said('deliveries', 'list', '--status', 'retrying')).out;
  expect(retrying).toContain('NEXT ATTEMPT');
  expect((await said('deliveries', 'show', latest!)).out).toMatch(/ {2}next attempt at \d{4}-/);
  hooks.app.clock.advance(6_000);
  await hooks.app.settled();
});

test('a replay that the receiver rejects is exit 1, and the output says that the server retries', async () => {
  const { delivery } = await delivered();
  receiver.answer = () => new Response('no', { status: 503 });
  const { code, out, err } = await said('deliveries', 'replay', delivery.id);
  receiver.answer = () => new Response();
  expect([code, out]).toEqual([1, expect.stringContaining('→ 503')]);
  expect(err).toMatch(/retries automatically, next at \d{4}-/);
});

test('all events since a time are replayed to an endpoint, or only the undelivered ones', async () => {
  hooks.app.clock.advance(1_000);
  const since = new Date(hooks.app.clock.now()).toISOString();
  const { endpoint, delivery } = await delivered();
  hooks.app.clock.advance(1_000);
  receiver.answer = () => new Response(null, { status: 503 });
  await hooks.file('Missed');
  await hooks.app.settled();
  const [missed] = await hooks.deliveries(endpoint);
  await hooks.call('POST', `/api/v1/deliveries/${missed.id}/cancel`);
  receiver.answer = () => new Response();

  const got = async (...args: string[]): Promise<string[]> => {
    receiver.received.length = 0;
    const { code, json } = await run('webhooks', 'replay', endpoint.id, '--since', since, ...args);
    expect([code, json]).toMatchObject([0, { webhookId: endpoint.id, status: 'done' }]);
    await hooks.app.settled();
    expect(receiver.received).toHaveLength(json.deliveries);
    return receiver.received.map(({ event }) => event.id).toSorted();
  };
  expect(await got('--only', 'undelivered')).toEqual([missed.eventId]);
  expect(await got()).toEqual([delivery.eventId, missed.eventId]);
  expect(await got('--until', new Date(hooks.app.clock.now()).toISOString())).toEqual([delivery.eventId]);
  const unbounded = await said('webhooks', 'replay', endpoint.id);
  expect([unbounded.code, unbounded.err]).toEqual([2, expect.stringContaining('--since')]);
  const output = (await said('webhooks', 'replay', endpoint.id, '--since', since)).out;
  expect(output).toMatch(/^deliveries +2$/m);
  expect(output).toMatch(/^status +done$/m);
});

test('a delivery or event is forwarded from this machine to an address: the same bytes, signed with the stored secret', async () => {
  const { delivery } = await delivered();
  const { payload } = await hooks.delivery(delivery.id);
  const local = startReceiver();
  const secrets = new Set<string>();
  try {
    for (const what of [delivery.id, delivery.eventId]) {
      const { code, json } = await run('webhooks', 'forward', what, '--to', local.url);
      expect([code, json]).toMatchObject([
        0,
        { eventId: delivery.eventId, eventType: 'issue.created', statusCode: 200, error: null },
      ]);
      const { body, headers } = local.received.at(-1)!;
      expect(body).toBe(payload);
      expect(headers.get('user-agent')).toMatch(/^Tatami-Webhooks\/\d/);
      expect(headers.get('x-webhook-delivery')).toBe(json.deliveryId);
      const secret = storedSecret();
      secrets.add(secret);
      expect((await verify(body, headers.get('x-webhook-signature')!, secret)).id).toBe(delivery.eventId);
    }
    expect(secrets.size).toBe(1);

    const mine = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    await run('webhooks', 'forward', delivery.id, '--to', local.url, '--secret', mine);
    const { body, headers } = local.received.at(-1)!;
    expect((await verify(body, headers.get('x-webhook-signature')!, mine)).id).toBe(delivery.eventId);

    local.answer = () => new Response(null, { status: 500 });
    const refused = await said('webhooks', 'forward', delivery.id, '--to', local.url);
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('→ 500')]);
  } finally {
    await local.stop();
  }
  const gone = await said('webhooks', 'forward', delivery.id, '--to', local.url);
  expect([gone.code, gone.out]).toEqual([1, expect.stringMatching(/→ \S/)]);
});

/** The only secret in the state directory; the file must be private. */
function storedSecret(): string {
  const folder = join(state, 'tatami/webhook-secrets');
  const files = readdirSync(folder);
  expect(files).toHaveLength(1);
  const file = join(folder, files[0]!);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  return readFileSync(file, 'utf8').trim();
}

const endpointId = `whe_${'0'.repeat(26)}`;
const usage: [string, string[], string][] = [
  ['no url', ['webhooks', 'create', '--events', '*'], '--url'],
  ['no events', ['webhooks', 'create', '--url', 'https://a.example/'], '--events'],
  [
    'a filter that is invalid JSON',
    ['webhooks', 'create', '--url', 'x', '--events', '*', '--filter', 'priority=high'],
    '--filter',
  ],
  [
    'an unknown ordering',
    ['webhooks', 'create', '--url', 'x', '--events', '*', '--ordering', 'strict'],
    '--ordering',
  ],
  ['too long an overlap', ['webhooks', 'rotate', endpointId, '--overlap-hours', '169'], '--overlap-hours'],
  ['a limit out of bounds', ['deliveries', 'list', '--limit', '0'], '--limit'],
  ['an invalid time', ['deliveries', 'list', '--since', 'yesterday'], '--since'],
  ['an unknown status', ['deliveries', 'list', '--status', 'lost'], '--status'],
  ['a forward of another object', ['webhooks', 'forward', 'iss_1', '--to', 'http://127.0.0.1:1/'], 'dlv_'],
  ['a forward without a target', ['webhooks', 'forward', 'evt_1'], '--to'],
  ['a forward to an invalid address', ['webhooks', 'forward', 'dlv_1', '--to', 'localhost:3000'], '--to'],
  [
    'an invalid secret',
    ['webhooks', 'forward', 'dlv_1', '--to', 'http://127.0.0.1:1/', '--secret', 'hush'],
    '--secret',
  ],
  ['a setting without a value', ['webhooks', 'trigger', 'issue.created', '--set', 'priority'], '--set'],
];
test.each(usage)('%s is exit 2, with the invalid argument', async (_, args, expected) => {
  const { code, json } = await run(...args);
  expect(code).toBe(2);
  expect(json.error.message).toContain(expected);
});

test('a wrong key is exit 4, an unknown delivery exit 1', async () => {
  const wrong = await tatami(['webhooks', 'list', '--json'], { ...env(), TATAMI_TOKEN: 'ttm_no_no' });
  expect([wrong.code, wrong.json.error.code]).toEqual([4, 'unauthorized']);
  const unknown = await run('deliveries', 'show', `dlv_${'0'.repeat(26)}`);
  expect([unknown.code, unknown.json.error.code]).toEqual([1, 'not_found']);
});
