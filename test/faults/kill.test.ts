// Fault matrix 1: kill -9 at every write syscall of a short script, and at random moments under 16 writers. Oracle O holds
// after each restart. TATAMI_LONG=1 makes it 200 random kills.
import { expect, test } from 'bun:test';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp, type Client, type TestApp } from '../app.ts';
import { checkOracle } from './oracle.ts';
import { clientOf, seededRandom, startServer } from './server.ts';

const core = join(import.meta.dir, 'core-process.ts');
const hasStrace = Bun.which('strace') !== null;
const randomKills = process.env.TATAMI_LONG ? 200 : 20;

async function freshDir(): Promise<{ dir: string; key: string; workspace: TestApp['workspace'] }> {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-kill-'));
  const app = await startApp({ dataDir: dir });
  await app.stop();
  return { dir, key: app.workspace.apiKey, workspace: app.workspace };
}

test.skipIf(!hasStrace)(
  'killed at every write syscall of a script, no acknowledged write is lost (needs strace)',
  async () => {
    const base = await freshDir();
    const issues = process.env.TATAMI_LONG ? 6 : 1;
    let kills = 0;
    for (let when = 1; ; when++) {
      const dir = mkdtempSync(join(tmpdir(), 'tatami-kill-'));
      cpSync(base.dir, dir, { recursive: true });
      const child = Bun.spawn(
        [
          'strace',
          '-f',
          '-qq',
          '-o',
          '/dev/null',
          '-e',
          'trace=pwrite64',
          '-e',
          `inject=pwrite64:signal=SIGKILL:when=${when}`,
          process.execPath,
          core,
          dir,
          base.key,
          String(issues),
        ],
        { stdout: 'pipe', stderr: 'ignore' },
      );
      const output = await new Response(child.stdout).text();
      await child.exited;
      const acked = new Map([...output.matchAll(/^acked (\S+) (\S+)$/gm)].map(([, key, id]) => [key!, id!]));
      const app = await startApp({ dataDir: dir }, base.workspace);
      await checkOracle(app.call, acked);
      for (let i = 0; i < issues; i++) {
        const again = await app.call(
          'POST',
          '/api/v1/issues',
          { team: 'ENG', title: `Issue ${i}`, labels: ['bug'] },
          { 'idempotency-key': `key-${i}` },
        );
        expect(again.status).toBe(201);
        const before = acked.get(`key-${i}`);
        if (before !== undefined) expect(again.json.id).toBe(before);
        acked.set(`key-${i}`, again.json.id);
      }
      expect((await checkOracle(app.call, acked)).length).toBe(issues);
      await app.stop();
      rmSync(dir, { recursive: true, force: true });
      if (output.includes('done')) break;
      kills++;
    }
    rmSync(base.dir, { recursive: true, force: true });
    expect(kills).toBeGreaterThan(issues * 8);
  },
  120_000,
);

test(`${randomKills} kills at random moments under 16 writers lose nothing that was acknowledged`, async () => {
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
    // First what was in the air when the last one died.
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
