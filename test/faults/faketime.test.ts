// A real server whose wall clock is set back by an hour and forward by a day while it runs (docs/spec/durability.md ›
// Clocks; libfaketime): retries keep their intervals, and nothing else is affected.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp } from '../app.ts';
import { startReceiver } from '../features/webhooks/receiver.ts';
import { fakeTimeEnv, fakeTimeLibrary, ownOffsetSeconds, signed } from './faketime.ts';
import { clientOf, startServer } from './server.ts';

test.skipIf(fakeTimeLibrary === null)(
  'a clock that is set back stalls no retry, one that is set forward duplicates none (needs libfaketime)',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tatami-faketime-'));
    const first = await startApp({ dataDir: join(dir, 'data'), clock: createSystemClock() });
    const { apiKey } = first.workspace;
    await first.stop();
    const offset = join(dir, 'offset');
    const set = (seconds: number): void => writeFileSync(offset, `${signed(ownOffsetSeconds + seconds)}\n`);
    set(0);
    const server = await startServer(join(dir, 'data'), {
      flags: ['--egress-allow', '127.0.0.0/8'],
      env: fakeTimeEnv({ file: offset }),
    });
    const call = clientOf(server.url, apiKey);
    const receiver = startReceiver();
    receiver.answer = () => new Response(null, { status: receiver.received.length === 1 ? 500 : 200 });
    await call('POST', '/api/v1/webhooks', { url: receiver.url, events: ['issue.created'] });
    const file = async (title: string) => (await call('POST', '/api/v1/issues', { team: 'ENG', title })).json;
    const one = await file('One');
    // Waits until the retry in five seconds is stored.
    while ((await call('GET', '/api/v1/deliveries?status=retrying')).json.data.length === 0);
    set(-3_600);
    const started = performance.now();
    await receiver.arrived(2);
    expect(performance.now() - started).toBeLessThan(15_000);
    set(86_400);
    const two = await file('Two');
    await receiver.arrived(3);
    expect(receiver.received.map(({ event }) => event.data.id)).toEqual([one.id, one.id, two.id]);
    const { json } = await call('GET', '/api/v1/issues');
    expect(json.data.map(({ title }: { title: string }) => title)).toEqual(['Two', 'One']);
    const [later, earlier] = json.data.map(({ createdAt }: { createdAt: string }) => Date.parse(createdAt));
    expect(later - earlier).toBeGreaterThanOrEqual(86_400_000);
    server.child.kill('SIGTERM');
    expect(await server.child.exited).toBe(0);
    await receiver.stop();
    rmSync(dir, { recursive: true });
  },
  60_000,
);
