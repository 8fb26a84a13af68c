// Expired rows are removed, and nothing else: keys after a day, ended runs after 14 days, deliveries after 30.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@libsql/client';
import { createClock, startApp, type TestClock } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';

const day = 86_400_000;
/** Interval of housekeeping. */
const everyMs = 600_000;

test('keys, runs and deliveries are removed after their retention period; the event log stays', async () => {
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const clock = createClock();
  /** Passes that have ended: each schedules the next one. */
  let passes = 0;
  const watched: TestClock = {
    ...clock,
    after(delayMs, run) {
      if (delayMs === everyMs) passes++;
      return clock.after(delayMs, run);
    },
  };
  const app = await startApp({ clock: watched, flags: { egressAllow: '127.0.0.0/8' } });
  const count = async (table: string): Promise<number> => {
    const db = createClient({ url: pathToFileURL(join(app.dataDir, 'tatami.db')).href });
    const { rows } = await db.execute(`SELECT count(*) AS n FROM ${table}`);
    db.close();
    return Number(rows[0]!.n);
  };
  /** Advances by one pass at a time, and waits for its end, which may take long on a busy machine. */
  const until = async (table: string, rows: number): Promise<void> => {
    for (let rounds = 0; (await count(table)) !== rows && rounds < 150; rounds++) {
      const ended = passes;
      app.clock.advance(everyMs);
      while (passes === ended) await app.call('GET', '/healthz');
    }
    expect([table, await count(table)]).toEqual([table, rows]);
  };
  await app.call('POST', '/api/v1/webhooks', {
    url: `http://127.0.0.1:${receiver.port}/`,
    events: ['issue.created'],
  });
  await install(
    app.call,
    await packSource(
      `{ id: 'com.test.swept', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } }, on: { 'issue.created': { handle() {} } } }`,
    ),
  );
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' }, { 'idempotency-key': 'k' });
  await app.settled();
  const events = await app.lastSequence();
  const all = async (): Promise<number[]> =>
    Promise.all(['idempotency', 'runs', 'deliveries', 'attempts'].map(count));
  expect(await all()).toEqual([1, 1, 1, 1]);
  app.clock.advance(day - 1);
  await app.settled();
  expect(await all()).toEqual([1, 1, 1, 1]);
  await until('idempotency', 0);
  app.clock.advance(12.9 * day);
  await until('runs', 0);
  expect(await all()).toEqual([0, 0, 1, 1]);
  app.clock.advance(15.8 * day);
  await until('deliveries', 0);
  expect(await all()).toEqual([0, 0, 0, 0]);
  expect(await app.lastSequence()).toBe(events);
  await app.stop();
  await receiver.stop(true);
});
