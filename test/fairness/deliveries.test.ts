// Fair queue of deliveries: the maximum number of hanging endpoints delays neither another workspace nor a healthy
// endpoint of the same one.
import { afterEach, expect, test } from 'bun:test';
import { hooksOf, startReceiver, type Receiver } from '../features/webhooks/receiver.ts';
import { startApp, type TestApp } from '../app.ts';
import { fileMany, untilMs } from './flood.ts';

/** Together with the healthy one this is the maximum number of endpoints in a workspace. */
const endpoints = 99;

let app: TestApp;
let receivers: Receiver[] = [];
afterEach(async () => {
  await app.stop();
  await Promise.all(receivers.map(({ stop }) => stop()));
  receivers = [];
});

const receiver = (): Receiver => {
  const started = startReceiver();
  receivers.push(started);
  return started;
};

test('99 hanging endpoints with 2,000 deliveries delay neither another workspace nor a healthy endpoint of their own', async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  const other = await app.addWorkspace('Other', 'OTHER');
  const neighbour = app.clientOf(other.apiKey);
  const [tarpit, healthy, theirs] = [receiver(), receiver(), receiver()];
  tarpit.answer = () => new Promise<Response>(() => undefined);
  const hooks = hooksOf(app);
  for (let n = 0; n < endpoints; n++)
    await hooks.register(`${tarpit.url}/${n}`, { events: ['issue.created'] });
  await hooks.register(healthy.url, { events: ['label.created'] });
  await neighbour('POST', '/api/v1/webhooks', { url: theirs.url, events: ['issue.created'] });
  await fileMany(app.call, 'ENG', 20);
  await tarpit.arrived(endpoints);

  await neighbour('POST', '/api/v1/issues', { team: 'OTHER', title: 'Delivered?' });
  await app.call('POST', '/api/v1/labels', { name: 'Delivered?', color: '#123456' });
  const [another, same] = await Promise.all([
    untilMs(async () => theirs.received.length === 1, 10_000),
    untilMs(async () => healthy.received.length === 1, 10_000),
  ]);
  console.log(
    `beside ${endpoints} hanging endpoints: another workspace's ${another.toFixed()} ms, its own ${same.toFixed()} ms`,
  );
  expect(another).toBeLessThan(1_000);
  expect(same).toBeLessThan(1_000);
}, 60_000);
