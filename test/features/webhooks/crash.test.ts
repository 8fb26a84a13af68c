// The receiver kills the core repeatedly during deliveries: none is lost, and only deliveries in flight are repeated,
// with the same ids. docs/spec/durability.md › Crash safety. TATAMI_LONG=1 makes it 50 kills over 200 events
// each.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp, type Json } from '../../app.ts';
import { handedOver } from '../../faults/own-copy.ts';
import { seededRandom, startServer, type Server } from '../../faults/server.ts';
import { hooksOf, startHooks, startReceiver } from './receiver.ts';

const long = process.env.TATAMI_LONG !== undefined;
const kills = long ? 50 : 3;
const eventsPerKill = long ? 200 : 40;
/** Maximum of concurrent attempts to one endpoint. */
const inFlightMax = 8;
test(`${kills} kills during deliveries lose none and repeat only deliveries in flight`, async () => {
  const seed = Number(process.env.SEED ?? 20_261_120);
  const random = seededRandom(seed);
  const tempDir = mkdtempSync(join(tmpdir(), 'tatami-crash-'));
  const receiver = startReceiver();
  const first = await startApp({
    dataDir: tempDir,
    clock: createSystemClock(),
    flags: { egressAllow: '127.0.0.0/8' },
  });
  await hooksOf(first).register(receiver.url, { events: ['issue.created'] });
  const { apiKey } = first.workspace;
  await first.stop();
  const dataDir = handedOver(tempDir);

  const start = (): Promise<Server> => startServer(dataDir, { flags: ['--egress-allow', '127.0.0.0/8'] });
  const end = async ({ child }: Server): Promise<void> => {
    child.kill('SIGKILL');
    await child.exited;
  };
  let core = await start();
  const call = async (method: string, path: string, body?: object): Promise<Json> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return (await fetch(core.url + path, { method, headers, ...sent })).json();
  };
  let filed = 0;
  for (let kill = 0; kill < kills; kill++) {
    const killAt = receiver.received.length + 1 + Math.floor(random() * (eventsPerKill - 1));
    const allFiled = Promise.withResolvers<void>();
    const died = Promise.withResolvers<void>();
    receiver.answer = async () => {
      const isLast = receiver.received.length === killAt;
      await allFiled.promise;
      if (isLast) died.resolve(end(core));
      return new Response();
    };
    for (let left = eventsPerKill; left > 0; left -= 100) {
      const issues = Array.from({ length: Math.min(left, 100) }, () => ({
        team: 'ENG',
        title: `Issue ${++filed}`,
      }));
      await call('POST', '/api/v1/issues/bulk', { issues });
    }
    allFiled.resolve();
    await died.promise;
    receiver.answer = () => new Response();
    core = await start();
  }

  const created: string[] = [];
  for (let after = 0, more = true; more;) {
    const page = await call('GET', `/api/v1/events?types=issue.created&limit=100&after=${after}`);
    created.push(...page.data.map((event: Json) => event.id));
    after = page.data.at(-1)?.sequence ?? after;
    more = page.pageInfo.hasNextPage && page.data.length > 0;
  }
  const ids = (): string[] => receiver.received.map(({ event }) => event.id);
  while (new Set(ids()).size < created.length) await receiver.arrived(receiver.received.length + 1);
  await end(core);
  await receiver.stop();
  rmSync(dataDir, { recursive: true });

  expect([seed, [...new Set(ids())].toSorted()]).toEqual([seed, created.toSorted()]);
  expect(created.length).toBe(kills * eventsPerKill);
  expect(receiver.received.length - created.length).toBeLessThanOrEqual(kills * inFlightMax);
  const pairs = new Set(
    receiver.received.map(({ event, headers }) => `${event.id} ${headers.get('x-webhook-delivery')}`),
  );
  expect(pairs.size).toBe(created.length);
}, 600_000);

test('a delivery that succeeded before a restart is not sent again', async () => {
  const receiver = startReceiver();
  const { app, register, file } = await startHooks();
  await register(receiver.url, { events: ['issue.created'] });
  await file('One');
  await app.settled();
  const again = await app.restart();
  again.clock.advance(24 * 3_600_000);
  await again.settled();
  expect(receiver.received.map(({ event }) => event.data.title)).toEqual(['One']);
  await again.stop();
  await receiver.stop();
});
