// `tatami webhooks`: endpoints, deliveries and replays on the command line.
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
const run = (...args: string[]) => tatami(['webhooks', ...args, '--json'], env());
const said = (...args: string[]) => tatami(['webhooks', ...args], env());

/** Creates an endpoint at the receiver with one delivered issue. */
async function delivered(): Promise<{ endpoint: Json; delivery: Json }> {
  const endpoint = (await run('create', '--url', receiver.url, '--events', 'issue.created')).json;
  await hooks.file('Über – 日本');
  await hooks.app.settled();
  const [delivery] = await hooks.deliveries(endpoint);
  return { endpoint, delivery };
}

test('an endpoint is registered with all options, its secret is shown once, and it is listed', async () => {
  expect((await said('list')).out).toContain('tatami webhooks create');
  const { code, json } = await run(
    'create',
    ...['--url', receiver.url, '--events', 'issue.created, issue.updated', '--ordering', 'entity'],
    ...['--description', 'for the shop', '--filter', '{"priority":"urgent"}'],
  );
  expect([code, Object.keys(json)]).toEqual([0, ['id', 'url', 'events', 'enabled', 'secret']]);
  const listed = await run('list');
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
  expect((await said('list')).out).toBe(
    `${json.id}  on   ${receiver.url}  issue.created,issue.updated  in order  for the shop\n`,
  );
  const output = await said('create', '--url', receiver.url, '--events', 'comment.*');
  expect(output.out).toMatch(
    /^whe_\w{26} {2}\S+ {2}comment\.\*\nSigning secret, shown only once: {2}whsec_\S+\n$/,
  );
});

test('a delivery is listed, shown with its attempt, and replayed as a new delivery of the same event', async () => {
  const { endpoint, delivery } = await delivered();
  const listed = await run('deliveries', endpoint.id, '--status', 'delivered', '--limit', '1');
  expect(listed.json).toMatchObject([{ id: delivery.id, eventType: 'issue.created', attempts: 1 }]);
  expect((await said('deliveries', endpoint.id)).out).toContain(
    `${delivery.id}  delivered   1 attempt   issue.created  ${delivery.eventId}  → ${endpoint.id}\n`,
  );
  const output = await said('deliveries', delivery.id);
  expect(output.out).toContain('→ 200');
  expect(output.out).toContain(`> X-Webhook-Delivery: ${delivery.id}`);
  expect(output.out).toContain('Über – 日本');

  receiver.received.length = 0;
  const again = await run('replay', delivery.id);
  expect([again.code, again.json]).toMatchObject([
    0,
    { eventId: delivery.eventId, origin: 'replay', status: 'delivered', attemptList: [{ statusCode: 200 }] },
  ]);
  expect(receiver.received).toHaveLength(1);
  const [got] = receiver.received;
  expect(got?.headers.get('x-webhook-delivery')).toBe(again.json.id);
  expect(again.json.id).not.toBe(delivery.id);
  expect((await said('replay', delivery.id)).out).toMatch(
    new RegExp(`^replayed as dlv_\\w+ \\(same ${delivery.eventId}, new signature\\) → 200 {2}\\d+ ms\\n$`),
  );
});

test('a secret is rotated with an overlap or without one', async () => {
  const endpoint = (await run('create', '--url', receiver.url, '--events', 'issue.created')).json;
  const { json } = await run('rotate', endpoint.id, '--overlap-hours', '48');
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
  const output = await said('rotate', endpoint.id, '--overlap-hours', '0');
  expect(output.out).toMatch(
    /^whe_\w+ {2}the previous secret no longer signs\nNew signing secret, shown only once: {2}whsec_\S+\n$/,
  );
});

test('deliveries of all endpoints are listed by status, type and time', async () => {
  const { endpoint, delivery } = await delivered();
  hooks.app.clock.advance(3_600_000);
  receiver.answer = () => new Response(null, { status: 500 });
  await hooks.file('Two');
  await hooks.app.settled();
  receiver.answer = () => new Response();
  const ids = async (...args: string[]): Promise<string[]> =>
    (await run('deliveries', ...args, '--limit', '100')).json
      .filter(({ webhookId }: Json) => webhookId === endpoint.id)
      .map(({ id }: Json) => id);
  const [latest] = await ids();
  expect(await ids()).toEqual([latest!, delivery.id]);
  expect(await ids('--status', 'retrying')).toEqual([latest!]);
  expect(await ids('--since', new Date(hooks.app.clock.now()).toISOString())).toEqual([latest!]);
  expect(await ids('--event-type', 'comment.added')).toEqual([]);
  expect((await said('deliveries', '--status', 'retrying')).out).toMatch(/ {2}next attempt at \d{4}-/);
  hooks.app.clock.advance(6_000);
  await hooks.app.settled();
});

test('a replay that the receiver rejects is exit 1, and the output says that the server retries', async () => {
  const { delivery } = await delivered();
  receiver.answer = () => new Response('no', { status: 503 });
  const { code, out, err } = await said('replay', delivery.id);
  receiver.answer = () => new Response();
  expect([code, out]).toEqual([1, expect.stringContaining('→ 503')]);
  expect(err).toMatch(/retries automatically\. {2}next attempt at \d{4}-/);
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
    const { code, json } = await run('replay', endpoint.id, '--since', since, ...args);
    expect([code, json]).toMatchObject([0, { webhookId: endpoint.id, status: 'done' }]);
    await hooks.app.settled();
    expect(receiver.received).toHaveLength(json.deliveries);
    return receiver.received.map(({ event }) => event.id).toSorted();
  };
  expect(await got('--undelivered')).toEqual([missed.eventId]);
  expect(await got()).toEqual([delivery.eventId, missed.eventId]);
  expect(await got('--until', new Date(hooks.app.clock.now()).toISOString())).toEqual([delivery.eventId]);
  expect((await said('replay', endpoint.id, '--since', since)).out).toMatch(
    /^resent 2 deliveries to whe_\w+ since \S+ \(rpl_\w+\)\n$/,
  );
});

test('a delivery or event is replayed locally to an address: the same bytes, signed with the stored secret', async () => {
  const { delivery } = await delivered();
  const { payload } = await hooks.delivery(delivery.id);
  const local = startReceiver();
  const secrets = new Set<string>();
  try {
    for (const what of [delivery.id, delivery.eventId]) {
      const { code, json } = await run('replay', what, '--to', local.url);
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
    await run('replay', delivery.id, '--to', local.url, '--secret', mine);
    const { body, headers } = local.received.at(-1)!;
    expect((await verify(body, headers.get('x-webhook-signature')!, mine)).id).toBe(delivery.eventId);

    local.answer = () => new Response(null, { status: 500 });
    const refused = await said('replay', delivery.id, '--to', local.url);
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('→ 500')]);
  } finally {
    await local.stop();
  }
  const gone = await said('replay', delivery.id, '--to', local.url);
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

const usage: [string, string[], string][] = [
  ['no url', ['create', '--events', '*'], '--url'],
  ['no events', ['create', '--url', 'https://a.example/'], '--events'],
  [
    'a filter that is invalid JSON',
    ['create', '--url', 'x', '--events', '*', '--filter', 'priority=high'],
    '--filter',
  ],
  ['an unknown ordering', ['create', '--url', 'x', '--events', '*', '--ordering', 'strict'], '--ordering'],
  ['too long an overlap', ['rotate', 'whe_1', '--overlap-hours', '169'], '--overlap-hours'],
  ['a limit out of bounds', ['deliveries', '--limit', '101'], '--limit'],
  ['an invalid time', ['deliveries', '--since', 'yesterday'], '--since'],
  ['a filter on one delivery', ['deliveries', 'dlv_1', '--status', 'failed'], '--status'],
  ['a replay of another object', ['replay', 'iss_1'], 'dlv_'],
  ['a replay of an event without a target', ['replay', 'evt_1'], '--to'],
  ['a replay of an endpoint without a start time', ['replay', 'whe_1'], '--since'],
  ['a replay of an endpoint to an address', ['replay', 'whe_1', '--to', 'http://127.0.0.1:1/'], '--to'],
  ['a range of one delivery', ['replay', 'dlv_1', '--since', '2h'], 'whe_'],
  ['a replay to an invalid address', ['replay', 'dlv_1', '--to', 'localhost:3000'], '--to'],
  ['an invalid secret', ['replay', 'dlv_1', '--to', 'http://127.0.0.1:1/', '--secret', 'hush'], '--secret'],
  ['a setting without a value', ['trigger', 'issue.created', '--set', 'priority'], '--set'],
];
test.each(usage)('%s is exit 2, with the invalid argument', async (_, args, expected) => {
  const { code, json } = await run(...args);
  expect([code, json.error.code]).toEqual([2, 'usage']);
  expect(json.error.message).toContain(expected);
});

test('a wrong key is exit 4, an unknown delivery exit 1', async () => {
  const wrong = await tatami(['webhooks', 'list', '--json'], { ...env(), TATAMI_TOKEN: 'ttm_no_no' });
  expect([wrong.code, wrong.json.error.code]).toEqual([4, 'unauthorized']);
  const unknown = await run('deliveries', `dlv_${'0'.repeat(26)}`);
  expect([unknown.code, unknown.json.error.code]).toEqual([1, 'not_found']);
});
