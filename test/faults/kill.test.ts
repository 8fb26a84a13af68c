// docs/spec/durability.md › Crash safety: kill -9 at the write syscalls of a short script, and at random moments under
// 16 writers. The oracle holds after each restart. TATAMI_LONG=1 tries every syscall of a longer script, and 200 random
// kills.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp, type Client, type Reply, type TestApp } from '../app.ts';
import { ownCommand } from '../program.ts';
import { checkOracle } from './oracle.ts';
import { copyAsKilled, handedOver } from './own-copy.ts';
import { clientOf, seededRandom, startServer } from './server.ts';
import { hasStrace, underFault } from './strace.ts';

const long = process.env.TATAMI_LONG !== undefined;
const randomKills = long ? 200 : 4;
/** Writes come in pairs, a frame header and its page: an odd step covers both. */
const step = long ? 1 : 39;

async function freshDir(): Promise<{ dir: string; key: string; workspace: TestApp['workspace'] }> {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-kill-'));
  const app = await startApp({ dataDir: dir, clock: createSystemClock() });
  await app.stop();
  return { dir: handedOver(dir), key: app.workspace.apiKey, workspace: app.workspace };
}

test.skipIf(!hasStrace)(
  `a kill at every ${long ? '' : 'thirty-ninth '}write syscall of a script loses no acknowledged write (needs strace)`,
  async () => {
    const issues = long ? 6 : 2;
    const script = Array.from({ length: issues }, (_, i) => `key-${i}`);
    const post = (app: TestApp, i: number): Promise<Reply> =>
      app.call(
        'POST',
        '/api/v1/issues',
        { team: 'ENG', title: `Issue ${i}`, labels: ['bug'] },
        { 'idempotency-key': `key-${i}` },
      );
    // The first issue is acknowledged and still in the log when the script begins; the script retries it.
    const living = await startApp();
    const first = (await post(living, 0)).json.id;
    const base = mkdtempSync(join(tmpdir(), 'tatami-kill-'));
    copyAsKilled(`${living.dataDir}/.`, base);
    await living.stop();
    const kills = new Map<string, number>();

    /** @returns false if the script ended before the call */
    const killedAt = async (call: string, when: number): Promise<boolean> => {
      const dir = mkdtempSync(join(tmpdir(), 'tatami-kill-'));
      copyAsKilled(`${base}/.`, dir);
      const files = ['tatami.db', 'tatami.db-wal', 'tatami.db-sums', 'log-head', 'identity.new'].map((name) =>
        join(dir, name),
      );
      const child = Bun.spawn(
        underFault(
          `${call}:signal=SIGKILL:when=${when}`,
          files,
          ownCommand('core', [dir, living.workspace.apiKey, String(issues), String(living.clock.now())]),
        ),
        { stdout: 'pipe', stderr: 'ignore' },
      );
      const output = await new Response(child.stdout).text();
      await child.exited;
      const acknowledged = [...output.matchAll(/^acked (\S+) (\S+)$/gm)].map(
        ([, key, id]) => [key!, id!] as const,
      );
      const acked = new Map<string, string>([['key-0', first], ...acknowledged]);
      const app = await startApp({ dataDir: dir, clock: living.clock }, living.workspace);
      await checkOracle(app.call, acked);
      for (const [i, key] of script.entries()) {
        const again = await post(app, i);
        expect([call, when, again.status]).toEqual([call, when, 201]);
        expect(again.json.id).toBe(acked.get(key) ?? again.json.id);
        acked.set(key, again.json.id);
      }
      expect((await checkOracle(app.call, acked)).length).toBe(issues);
      await app.stop();
      rmSync(dir, { recursive: true, force: true });
      return !output.includes('done');
    };

    /** Kills at every `step`th call, from `first` on. */
    const killAll = async (call: string, first: number, step: number): Promise<void> => {
      for (let when = first; await killedAt(call, when); when += step)
        kills.set(call, (kills.get(call) ?? 0) + 1);
    };
    await Promise.all([
      killAll('pwrite64', 1, 2 * step),
      killAll('pwrite64', 1 + step, 2 * step),
      killAll('fsync', 1, 1).then(() => killAll('fdatasync', 1, 1)),
    ]);
    rmSync(base, { recursive: true, force: true });
    const created = issues - 1;
    expect(kills.get('pwrite64')).toBeGreaterThan((created * 20) / step);
    expect(kills.get('fsync')).toBeGreaterThanOrEqual(created);
    expect(kills.get('fdatasync')).toBeGreaterThanOrEqual(created);
  },
  120_000,
);

test(`${randomKills} kills at random moments under 16 writers lose no acknowledged write`, async () => {
  const { dir, key } = await freshDir();
  const acked = new Map<string, string>();
  const pending = new Set<string>();
  let next = 0;
  const random = seededRandom(20261120);
  const post = (call: Client, name: string) =>
    call('POST', '/api/v1/issues', { team: 'ENG', title: name }, { 'idempotency-key': name });

  for (let kill = 0; kill < randomKills; kill++) {
    const { url, child } = await startServer(dir);
    const call = clientOf(url, key);
    // The pending requests of the last kill are retried first.
    for (const name of pending) {
      const reply = await post(call, name);
      expect(reply.status).toBe(201);
      acked.set(name, reply.json.id);
      pending.delete(name);
    }
    let alive = true;
    const writers = Array.from({ length: 16 }, async () => {
      while (alive) {
        const name = `n-${next++}`;
        pending.add(name);
        try {
          const reply = await post(call, name);
          if (reply.status !== 201) throw new Error(`answered ${reply.status}`);
          acked.set(name, reply.json.id);
          pending.delete(name);
        } catch {
          return;
        }
      }
    });
    await Bun.sleep(20 + random() * 150);
    child.kill('SIGKILL');
    alive = false;
    await Promise.all([child.exited, ...writers]);
  }
  const { url, child } = await startServer(dir);
  const call = clientOf(url, key);
  for (const name of pending) acked.set(name, (await post(call, name)).json.id);
  const issues = await checkOracle(call, acked);
  expect(issues.length).toBe(acked.size);
  expect(new Set(issues.map(({ title }) => title)).size).toBe(issues.length);
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
  rmSync(dir, { recursive: true, force: true });
}, 180_000);
