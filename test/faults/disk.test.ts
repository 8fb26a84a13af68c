// docs/spec/durability.md › Disks: a disk that fails a sync, is full, or rejects writes. No lost write is acknowledged,
// reads continue, and transient faults recover.
import { afterEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSums } from '../../core/platform/store/integrity/page-sums.ts';
import { verifyPages } from '../../core/platform/store/integrity/verify.ts';
import { openStore } from '../../core/platform/store/open-store.ts';
import { programCommand } from '../program.ts';
import { createSystemClock, startApp, type Reply } from '../app.ts';
import { checkOracle, everything } from './oracle.ts';
import { clientOf } from './server.ts';
import { hasStrace, underFault } from './strace.ts';

const run = (...command: string[]): boolean => Bun.spawnSync(command).exitCode === 0;

const parent = mkdtempSync(join(tmpdir(), 'tatami-disk-'));
const canMount = ((): boolean => {
  const probe = join(parent, 'probe');
  mkdirSync(probe);
  return (
    process.platform === 'linux' &&
    run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tatami', probe) &&
    run('umount', probe)
  );
})();
const mounted: string[] = [];
afterEach(() => {
  for (const dir of mounted.splice(0)) run('umount', '-l', dir);
  rmSync(parent, { recursive: true, force: true });
  mkdirSync(parent);
});

test.skipIf(!canMount)(
  'on a full disk writes are 507 storage_full and reads 200, and freed space is enough to continue (needs mount)',
  async () => {
    const dir = join(parent, 'full');
    mkdirSync(dir);
    expect(run('mount', '-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tatami', dir)).toBe(true);
    mounted.push(dir);
    const app = await startApp({ dataDir: dir, clock: createSystemClock() });
    writeFileSync(join(dir, 'ballast'), Buffer.alloc(3 * 1024 * 1024));
    const acked = new Map<string, string>();
    const create = async (name: string): Promise<Reply> => {
      const reply = await app.call(
        'POST',
        '/api/v1/issues',
        { team: 'ENG', title: name, description: 'x'.repeat(20_000) },
        { 'idempotency-key': name },
      );
      if (reply.status === 201) acked.set(name, reply.json.id);
      return reply;
    };
    const refused: string[] = [];
    for (let n = 0; n < 400 && refused.length < 5; n++) {
      const reply = await create(`n-${n}`);
      if (reply.status === 201) continue;
      expect([reply.status, reply.json.error.code, reply.headers.has('retry-after')]).toEqual([
        507,
        'storage_full',
        false,
      ]);
      refused.push(`n-${n}`);
      expect((await app.call('GET', '/api/v1/issues?limit=5')).status).toBe(200);
    }
    expect(refused).toHaveLength(5);
    expect(acked.size).toBeGreaterThan(10);
    expect((await app.call('GET', '/readyz')).json).toMatchObject({
      ...{ status: 'degraded', store: false },
      problems: expect.arrayContaining([expect.objectContaining({ kind: 'read_only' })]),
    });

    rmSync(join(dir, 'ballast'));
    for (const name of refused) expect((await create(name)).status).toBe(201);
    expect((await app.call('GET', '/readyz')).json).toMatchObject({ status: 'ready', store: true });
    expect((await checkOracle(app.call, acked)).length).toBe(acked.size);
    await app.stop();

    const again = await startApp({ dataDir: dir, clock: createSystemClock() }, app.workspace);
    expect((await checkOracle(again.call, acked)).length).toBe(acked.size);
    await again.stop();
  },
  60_000,
);

interface Broken {
  url: string;
  stop(): Promise<void>;
}

/** A server on whose log or log head a system call fails. */
async function startFailing(dir: string, inject: string): Promise<Broken> {
  const child = Bun.spawn(
    underFault(
      inject,
      [join(dir, 'tatami.db-wal'), join(dir, 'log-head')],
      programCommand(['serve', '--data-dir', dir, '--port', '0', '--rate-limit', 'off', '--json']),
    ),
    { stdout: 'pipe', stderr: 'ignore' },
  );
  const { value } = await child.stdout.getReader().read();
  if (!value) throw new Error('the server did not start');
  return {
    url: JSON.parse(new TextDecoder().decode(value)).url,
    async stop() {
      // strace would intercept the signal.
      process.kill(Number(readFileSync(join(dir, 'lock'), 'utf8')), 'SIGTERM');
      await child.exited;
    },
  };
}

test.skipIf(!hasStrace).each([
  ['the log cannot be synced', 'fsync:error=EIO:when=4'],
  ['the log head cannot be synced', 'fdatasync:error=EIO:when=4'],
])(
  'if %s, nothing is acknowledged from then on, reads continue, and a restart has all acknowledged data (needs strace)',
  async (_, inject) => {
    const dir = join(parent, 'sync');
    const app = await startApp({ dataDir: dir, clock: createSystemClock() });
    await app.stop();
    const failing = await startFailing(dir, inject);
    const call = clientOf(failing.url, app.workspace.apiKey);
    const acked = new Map<string, string>();
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++) {
      const reply = await call(
        'POST',
        '/api/v1/issues',
        { team: 'ENG', title: `n-${n}` },
        { 'idempotency-key': `n-${n}` },
      );
      statuses.push(reply.status);
      if (reply.status === 201) acked.set(`n-${n}`, reply.json.id);
      else expect(reply.json.error.code).toBe('unavailable');
    }
    // The one failed sync ends writing for good, although every later one would work.
    const firstRefusal = statuses.indexOf(503);
    expect(firstRefusal).toBeGreaterThan(0);
    expect(new Set(statuses.slice(firstRefusal))).toEqual(new Set([503]));
    expect((await call('GET', '/api/v1/issues')).status).toBe(200);
    expect((await call('GET', '/readyz')).status).toBe(503);
    await failing.stop();

    const again = await startApp({ dataDir: dir, clock: createSystemClock() }, app.workspace);
    for (let n = 0; n < 12; n++) {
      const reply = await again.call(
        'POST',
        '/api/v1/issues',
        { team: 'ENG', title: `n-${n}` },
        { 'idempotency-key': `n-${n}` },
      );
      expect(reply.status).toBe(201);
      const before = acked.get(`n-${n}`);
      if (before !== undefined) expect(reply.json.id).toBe(before);
      acked.set(`n-${n}`, reply.json.id);
    }
    expect((await checkOracle(again.call, acked)).length).toBe(12);
    await again.stop();
  },
  60_000,
);

test.skipIf(!hasStrace)(
  'while a disk rejects writes, they are 503 without effect and reads 200; afterwards writes work (needs strace)',
  async () => {
    const dir = join(parent, 'read-only');
    const app = await startApp({ dataDir: dir, clock: createSystemClock() });
    await app.stop();
    const failing = await startFailing(dir, 'pwrite64:error=EROFS:when=60..260');
    const call = clientOf(failing.url, app.workspace.apiKey);
    const acked = new Map<string, string>();
    const seen = new Set<number>();
    for (let n = 0; n < 600 && !(seen.has(503) && acked.has(`n-${n - 3}`)); n++) {
      const reply = await call(
        'POST',
        '/api/v1/issues',
        { team: 'ENG', title: `n-${n}` },
        { 'idempotency-key': `n-${n}` },
      );
      seen.add(reply.status);
      if (reply.status === 201) acked.set(`n-${n}`, reply.json.id);
      else expect((await call('GET', '/api/v1/issues?limit=1')).status).toBe(200);
    }
    expect(seen).toEqual(new Set([201, 503]));
    expect((await checkOracle(call, acked)).length).toBe(acked.size);
    await failing.stop();
    const again = await startApp({ dataDir: dir, clock: createSystemClock() }, app.workspace);
    expect((await everything(again.call, '/issues')).length).toBe(acked.size);
    expect(readdirSync(dir)).toContain('log-head');
    await again.stop();
  },
  60_000,
);

/** Checkpoints a store whose database accepts four pages of the first checkpoint, and none in the next three. */
async function checkpointedWhenFull(dir: string, ...damage: 'damage'[]): Promise<(string | null)[]> {
  const program = [process.execPath, join(import.meta.dir, 'full-process.ts'), dir];
  const printed = async (command: string[]): Promise<(string | null)[]> => {
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' });
    const text = await new Response(child.stdout).text();
    expect(await child.exited).toBe(0);
    return JSON.parse(text) as (string | null)[];
  };
  // The checksums of the pages match their earlier content.
  expect(await printed(program)).toEqual([null, null, null, null, null]);
  const fault = underFault('pwrite64:error=ENOSPC:when=5..8', [join(dir, 'tatami.db')], program);
  return printed([...fault, ...damage]);
}

test.skipIf(!hasStrace)(
  'a disk that fills up during a checkpoint is no damage: writes continue, also once there is space (needs strace)',
  async () => {
    const dir = join(parent, 'checkpoint');
    expect(await checkpointedWhenFull(dir)).toEqual([null, null, null, null, null]);
    // Every page has its checksum again, so that damage of it is found.
    const database = join(dir, 'tatami.db');
    const { size } = statSync(database);
    const sums = readSums(database);
    const unset = Array.from({ length: size / 8192 }, (_, index) => index + 1).filter(
      (page) => sums.verdictOf(page, Buffer.from('other')) !== 'wrong',
    );
    expect([unset, verifyPages(database)]).toEqual([[], { damaged: [], isUnsure: false }]);
    const { onlyToRead, close } = openStore(dir, Date.now);
    expect(onlyToRead).toBeNull();
    await close();
  },
);

test.skipIf(!hasStrace)(
  'a damaged page that is not in the log is found while no checkpoint succeeds (needs strace)',
  async () => {
    const said = await checkpointedWhenFull(join(parent, 'damaged'), 'damage');
    expect(said[0]).toBeNull();
    for (const reason of said.slice(1)) expect(reason).toMatch(/^1 damaged page .* comments/);
  },
);
