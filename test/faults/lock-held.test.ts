// docs/spec/durability.md › Locks: another process holds the write lock of a real server for 0.1 and 1 second, and
// until a write has waited too long for it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp, type Client } from '../app.ts';
import { watchSlowness } from '../slow-machine.ts';
import { clientOf, startServer, type Server } from './server.ts';

const dir = mkdtempSync(join(tmpdir(), 'tatami-lock-'));
let server: Server;
let call: Client;
/** The slowest of a hundred reads without a lock, because a busy machine is always slow. */
let freeMs = 0;

async function readMs(): Promise<number> {
  const startedMs = performance.now();
  expect((await call('GET', '/api/v1/issues?limit=1')).status).toBe(200);
  const tookMs = performance.now() - startedMs;
  await Bun.sleep(5);
  return tookMs;
}

beforeAll(async () => {
  const app = await startApp({ dataDir: dir, clock: createSystemClock() });
  await app.stop();
  server = await startServer(dir);
  call = clientOf(server.url, app.workspace.apiKey);
  for (let n = 0; n < 100; n++) freeMs = Math.max(freeMs, await readMs());
});
afterAll(async () => {
  server.child.kill('SIGTERM');
  await server.child.exited;
  rmSync(dir, { recursive: true, force: true });
});

test.each([
  [100, 201],
  [1_000, 201],
  // Ended by the first response, because a busy machine lengthens the wait of a write.
  [60_000, 503],
])(
  'while the lock is held for at most %i ms, a write is answered %i, reads continue, and nothing stays locked',
  async (holdMs, expected) => {
    const holder = Bun.spawn(
      [process.execPath, join(import.meta.dir, 'hold-lock.ts'), join(dir, 'tatami.db'), String(holdMs), '1'],
      { stdout: 'pipe' },
    );
    await holder.stdout.getReader().read();
    let isLocked = true;
    const statuses: number[] = [];
    // Each writer sends again at once, so that the lock is requested all the time.
    const writer = async (): Promise<void> => {
      while (isLocked) {
        const { status, json, headers } = await call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' });
        statuses.push(status);
        if (status === 201) continue;
        holder.kill();
        expect([status, json.error.code, headers.has('retry-after')]).toEqual([503, 'unavailable', false]);
      }
    };
    const readsMs: number[] = [];
    const reader = async (): Promise<void> => {
      while (isLocked) readsMs.push(await readMs());
    };
    const slowness = watchSlowness();
    const startedMs = performance.now();
    const load = Promise.all([writer(), writer(), reader()]);
    await holder.exited;
    isLocked = false;
    const heldMs = performance.now() - startedMs;
    await load;
    expect(statuses).toContain(expected);
    if (expected === 201) expect(statuses).not.toContain(503);
    // The event loop never waits with the writers: no read took nearly as long as the lock was held.
    readsMs.sort((a, b) => a - b);
    const percentile = (fraction: number): number => readsMs[Math.floor(readsMs.length * fraction)]!;
    console.info(
      `      ${readsMs.length} reads, p50 ${percentile(0.5).toFixed(1)} ms, p99 ${percentile(0.99).toFixed(1)} ms; worst while free ${freeMs.toFixed(1)} ms`,
    );
    expect(percentile(0.99)).toBeLessThan(Math.max(100 * slowness(), 3 * freeMs, heldMs / 4));
    expect((await call('POST', '/api/v1/issues', { team: 'ENG', title: 'after' })).status).toBe(201);
  },
  60_000,
);
