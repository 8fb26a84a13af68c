// Deliveries take turns: as many endpoints as there may be that hang hold up neither another workspace nor a healthy endpoint of their own.
import { afterEach, expect, test } from 'bun:test';
import { hooksOf, startReceiver, type Receiver } from '../webhooks/receiver.ts';
import { startApp, type TestApp } from '../app.ts';
import { fileMany, untilMs } from './flood.ts';

/** With the healthy one, as many as a workspace may have. */
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

test('99 hanging endpoints with 2,000 deliveries hold up no other workspace, and no healthy endpoint of their own', async () => {
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
    `beside ${endpoints} that hang: another workspace's ${another.toFixed()} ms, its own ${same.toFixed()} ms`,
  );
  expect(another).toBeLessThan(1_000);
  expect(same).toBeLessThan(1_000);
}, 60_000);
