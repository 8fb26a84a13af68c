// An ordered endpoint gets the events of one issue in order under failures, restarts and cancellations, and other
// issues do not wait.
import { beforeEach, expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { seededRandom } from '../../faults/server.ts';
import { hooksOfFile, startHooks, type Receiver } from './receiver.ts';

const { hooks, receiver } = await hooksOfFile();
const rounds = process.env.TATAMI_LONG ? 50 : 20;
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer = () => new Response();
});

const registerOrdered = (more: object = {}): Promise<Json> =>
  hooks.register(receiver.url, { events: ['issue.*', 'comment.*'], ordering: 'entity', ...more });
const forget = (endpoint: Json) => hooks.call('DELETE', `/api/v1/webhooks/${endpoint.id}`);
const rename = (issue: Json, title: string) => hooks.call('PATCH', `/api/v1/issues/${issue.id}`, { title });
const titles = (issue: Json): string[] =>
  receiver.received.filter(({ event }) => event.data.id === issue.id).map(({ event }) => event.data.title);
const failing = (bad: (title: string) => boolean) => {
  receiver.answer = ({ event }) => new Response(null, { status: bad(event.data.title) ? 500 : 200 });
};

/** One request in ten is refused, chosen by the seed and the event, independently of the order of arrival. */
function failingAtTimes(seed: number): Receiver['answer'] {
  const chances = new Map<string, () => number>();
  return ({ event }) => {
    const chance = chances.get(event.id) ?? seededRandom(seed + Bun.hash.crc32(event.data.title));
    chances.set(event.id, chance);
    return new Response(null, { status: chance() < 0.1 ? 503 : 200 });
  };
}

test('later events of an issue wait for a failing delivery, and other issues do not', async () => {
  const endpoint = await registerOrdered();
  failing((title) => title === 'A1');
  const a = await hooks.file('A1');
  const b = await hooks.file('B1');
  await rename(a, 'A2');
  await rename(b, 'B2');
  await hooks.call('POST', `/api/v1/issues/${a.id}/comments`, { body: 'a comment is of its issue' });
  await hooks.app.settled();
  expect(receiver.received.map(({ event }) => event.data.title).toSorted()).toEqual(['A1', 'B1', 'B2']);
  failing(() => false);
  hooks.app.clock.advance(6_000);
  await hooks.app.settled();
  expect(titles(a)).toEqual(['A1', 'A1', 'A2']);
  expect(receiver.received.map(({ event }) => event.type).at(-1)).toBe('comment.added');
  await forget(endpoint);
});

test('a delivery that is parked, canceled or loses its endpoint releases the next one', async () => {
  const endpoint = await registerOrdered();
  failing((title) => title === 'A1' || title === 'A3');
  const a = await hooks.file('A1');
  await rename(a, 'A2');
  for (let n = 0; n < 8; n++) {
    hooks.app.clock.advance(24 * 3_600_000);
    await hooks.app.settled();
  }
  expect(titles(a).at(-1)).toBe('A2');
  await rename(a, 'A3');
  await rename(a, 'A4');
  await rename(a, 'A5');
  await hooks.app.settled();
  const [fifth, fourth, third] = await hooks.deliveries(endpoint);
  // The fourth is not the head of its chain, and nothing may overtake the head.
  expect((await hooks.call('POST', `/api/v1/deliveries/${fourth.id}/cancel`)).json.status).toBe('canceled');
  await hooks.app.settled();
  expect(titles(a).at(-1)).toBe('A3');
  expect((await hooks.call('POST', `/api/v1/deliveries/${third.id}/cancel`)).json.status).toBe('canceled');
  await hooks.app.settled();
  expect(titles(a).at(-1)).toBe('A5');
  expect(await hooks.delivery(fifth.id)).toMatchObject({ status: 'delivered', attempts: 1 });
  await forget(endpoint);
});

test('a replay of an earlier event waits for open deliveries, also if others of the chain are canceled', async () => {
  const endpoint = await registerOrdered();
  const a = await hooks.file('A1');
  await hooks.app.settled();
  const [first] = await hooks.deliveries(endpoint);
  failing((title) => title === 'A2');
  await rename(a, 'A2');
  await hooks.app.settled();
  await rename(a, 'A3');
  await hooks.call('POST', `/api/v1/deliveries/${first.id}/replay`);
  await hooks.app.settled();
  const [third] = (await hooks.deliveries(endpoint)).filter(({ origin }) => origin === 'event');
  await hooks.call('POST', `/api/v1/deliveries/${third.id}/cancel`);
  await hooks.app.settled();
  expect(titles(a)).toEqual(['A1', 'A2']);
  failing(() => false);
  hooks.app.clock.advance(6_000);
  await hooks.app.settled();
  expect(titles(a)).toEqual(['A1', 'A2', 'A2', 'A1']);
  await forget(endpoint);
});

test('disabling and enabling an endpoint leaves no delivery stuck', async () => {
  const endpoint = await registerOrdered();
  failing(() => true);
  const a = await hooks.file('A1');
  await rename(a, 'A2');
  await rename(a, 'A3');
  await hooks.app.settled();
  await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: false });
  hooks.app.clock.advance(6_000);
  await hooks.app.settled();
  expect((await hooks.deliveries(endpoint)).map(({ status }) => status)).toEqual(Array(3).fill('canceled'));
  failing(() => false);
  await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: true });
  await rename(a, 'A4');
  await hooks.app.settled();
  expect(titles(a).at(-1)).toBe('A4');
  await forget(endpoint);
});

test('410 at the head of a chain ends the whole chain', async () => {
  const endpoint = await registerOrdered();
  receiver.answer = () => new Response(null, { status: 410 });
  const a = await hooks.file('A1');
  for (const title of ['A2', 'A3']) await rename(a, title);
  await hooks.app.settled();
  const ended = (await hooks.deliveries(endpoint)).map(({ status }) => status);
  expect([ended.at(-1), ended.filter((status) => status !== 'canceled' && status !== 'failed')]).toEqual([
    'failed',
    [],
  ]);
  await forget(endpoint);
});

test(`${rounds} events of each of twenty issues arrive in order per issue, across failures and a restart`, async () => {
  const seed = Number(process.env.SEED ?? 20_261_121);
  const issueCount = 20;
  const local = await startHooks({ random: seededRandom(seed) });
  await local.register(receiver.url, { events: ['issue.*'], ordering: 'entity' });
  receiver.answer = failingAtTimes(seed);
  const issues = await Promise.all(Array.from({ length: issueCount }, (_, n) => local.file(`I${n} 0`)));
  for (let round = 1; round < rounds; round++) {
    const renamed = await Promise.all(
      issues.map(({ id }, n) => local.call('PATCH', `/api/v1/issues/${id}`, { title: `I${n} ${round}` })),
    );
    expect(renamed.map(({ status }) => status)).toEqual(Array(issueCount).fill(200));
  }
  const again = await local.app.restart();
  const open = async (): Promise<Json[]> => [
    ...(await again.call('GET', '/api/v1/deliveries?status=pending&limit=1')).json.data,
    ...(await again.call('GET', '/api/v1/deliveries?status=retrying&limit=1')).json.data,
  ];
  await again.settled();
  // An hour is enough for most; a delivery whose attempts all fail takes a day.
  for (let hours = 0; hours < 72 && (await open()).length > 0; hours++) {
    for (let steps = 0; steps < 20; steps++) {
      again.clock.advance(6_000);
      await again.settled();
    }
    again.clock.advance(3_600_000);
    await again.settled();
  }
  expect([seed, await open()]).toEqual([seed, []]);
  const arrived = Map.groupBy(receiver.received, ({ event }) => event.data.id);
  const expected = Array.from({ length: rounds }, (_, round) => round);
  for (const [n, { id }] of issues.entries()) {
    const numbers = (arrived.get(id) ?? []).map(({ event }) => Number(event.data.title.split(' ')[1]));
    const deduplicated = numbers.filter((number, at) => number !== numbers[at - 1]);
    expect([seed, n, deduplicated]).toEqual([seed, n, expected]);
  }
  await again.stop();
}, 60_000);

test('on an endpoint without ordering, a failing delivery delays nothing', async () => {
  const endpoint = await registerOrdered({ ordering: 'none' });
  failing((title) => title === 'A1');
  const a = await hooks.file('A1');
  await rename(a, 'A2');
  await hooks.app.settled();
  expect(titles(a).toSorted()).toEqual(['A1', 'A2']);
  await forget(endpoint);
});
