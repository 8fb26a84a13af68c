// The continuous copy of a real server that is killed under load: the assembled database is always intact and a prefix
// of the commits, and lacks at most the last seconds. TATAMI_LONG=1 runs thirty kills in place of one, and also kills
// the server during a base copy.
import { afterAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  openDestination,
  type Destination,
} from '../../core/platform/backup/copy/destination/destination.ts';
import { listCopy, verifyCopy } from '../../core/platform/backup/copy/inspect.ts';
import { programCommand } from '../program.ts';
import { contentOf, copied, noS3, temporary, type Copied } from './copied.ts';
import { copyAsKilled } from './own-copy.ts';
import { startS3 } from './s3.ts';
import { clientOf, seededRandom, startServer, type Server } from './server.ts';

const long = process.env.TATAMI_LONG !== undefined;
const kills = long ? 30 : 1;
/**
 * A copy is made every second; commits acknowledged this long before the kill must be included, also on a busy machine.
 */
const lostMsMax = 6_000;
/** Long enough for a checkpoint every few hundred issues. */
const description = 'The printer on the third floor is on fire. '.repeat(600);

const folders: string[] = [];
const folder = (): string => {
  folders.push(temporary());
  return folders.at(-1)!;
};
afterAll(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

interface SeededDirectory {
  readonly dir: string;
  readonly key: string;
}

/**
 * Created by another process: libsql closes a connection once its statements are garbage-collected, which would
 * checkpoint the log into the file.
 */
async function makeDir(): Promise<SeededDirectory> {
  const dir = folder();
  const command = programCommand(['init', '--data-dir', dir, '--workspace', 'Acme', '--team', 'ENG']);
  const child = Bun.spawn([...command, '--json'], { stdout: 'pipe', stderr: 'ignore' });
  const { apiKey } = (await new Response(child.stdout).json()) as { apiKey: string };
  return { dir, key: apiKey };
}

let seeded: Promise<SeededDirectory> | undefined;
/** A copy of the directory that is created once. */
async function freshDir(): Promise<SeededDirectory> {
  const { dir, key } = await (seeded ??= makeDir());
  return { dir: copyAsKilled(dir, join(folder(), 'data')), key };
}

/** Writes until the server ends. */
interface Load {
  /** Acknowledged titles with their time in milliseconds since the start of this load. */
  readonly acked: ReadonlyMap<string, number>;
  /**
   * Kills the server.
   * @returns time of the kill in milliseconds
   */
  kill(): Promise<number>;
}

/** Object names; null if the S3 server answers with an internal error, because objects are being written. */
const listed = (source: Destination): Promise<readonly string[] | null> => source.list().catch(() => null);

let issues = 0;

function load({ url, child }: Server, key: string): Load {
  const call = clientOf(url, key);
  const acked = new Map<string, number>();
  const startMs = performance.now();
  let alive = true;
  const writers = Array.from({ length: 4 }, async () => {
    while (alive) {
      const title = `Issue ${issues++}`;
      const reply = await call('POST', '/api/v1/issues', { team: 'ENG', title, description }).catch(
        () => null,
      );
      if (reply === null) return;
      expect(reply.status).toBe(201);
      acked.set(title, performance.now() - startMs);
    }
  });
  return {
    acked,
    async kill() {
      const atMs = performance.now() - startMs;
      child.kill('SIGKILL');
      alive = false;
      await Promise.all([child.exited, ...writers]);
      return atMs;
    },
  };
}

async function until(what: () => Promise<boolean>): Promise<void> {
  const lastMs = performance.now() + 40_000;
  while (!(await what())) {
    if (performance.now() > lastMs) throw new Error('It did not come.');
    await Bun.sleep(30);
  }
}

const hasBase = async (source: Destination): Promise<boolean> =>
  (await listed(source))?.some((name) => name.endsWith('/manifest')) ?? false;

/** Expects that the copies are prefixes of the server's final state, and that the last one is recent enough. */
async function checkPrefixes(dir: string, copies: readonly Copied[]): Promise<void> {
  const server = await startServer(dir);
  server.child.kill('SIGTERM');
  await server.child.exited;
  const final = contentOf(join(dir, 'tatami.db')).titles;
  for (const { titles } of copies) {
    expect(titles.length).toBeGreaterThan(0);
    expect(final.slice(0, titles.length)).toEqual([...titles]);
  }
}

test(
  `${kills === 1 ? 'a kill' : `${kills} kills`} under load: the copy lacks seconds at most, and its chain continues across all kills`,
  async () => {
    const { dir, key } = await freshDir();
    const to = folder();
    const source = openDestination(to, noS3);
    const random = seededRandom(20261122);
    const acked = new Map<string, number>();
    const copies: Copied[] = [];
    let lostMs = 0;
    /** Total run time of the server: nothing can be copied while it is down. */
    let aliveMs = 0;
    for (let kill = 0; kill < kills; kill++) {
      const server = await startServer(dir, { flags: ['--copy-to', to, '--copy-every', '1'] });
      const writing = load(server, key);
      if (kill === 0) await until(() => hasBase(source));
      await Bun.sleep(600 + random() * 1_000);
      const killedMs = await writing.kill();
      for (const [title, atMs] of writing.acked) acked.set(title, aliveMs + atMs);
      aliveMs += killedMs;
      copies.push(await copied(to));
      const has = new Set(copies.at(-1)!.titles);
      for (const [title, atMs] of acked) if (!has.has(title)) lostMs = Math.max(lostMs, aliveMs - atMs);
    }
    if (long) console.log(`${acked.size} issues, at most ${Math.round(lostMs)} ms lost`);
    expect(lostMs).toBeLessThan(lostMsMax);
    const { chains, damaged } = await verifyCopy(source);
    expect(damaged).toEqual([]);
    expect(chains).toMatchObject([{ bases: 1, moments: [{}] }]);
    await checkPrefixes(dir, copies);
  },
  long ? 900_000 : 180_000,
);

const killedWhileBasing = async (): Promise<void> => {
  const { dir, key } = await freshDir();
  const to = folder();
  const source = openDestination(to, noS3);
  const flags = ['--copy-to', to, '--copy-every', '1'];
  const filling = load(await startServer(dir), key);
  await until(async () => filling.acked.size > 500);
  await filling.kill();

  const first = load(await startServer(dir, { flags }), key);
  await until(async () => (await source.list()).some((name) => name.endsWith('/base-000001/00000000')));
  await first.kill();
  expect(await hasBase(source)).toBe(false);
  await expect(copied(to).then(({ titles }) => titles)).rejects.toThrow('contains no complete copy');

  const second = load(await startServer(dir, { flags }), key);
  await until(() => hasBase(source));
  await until(async () => (await listCopy(source)).chains.some(({ moments }) => moments.length > 0));
  await second.kill();
  const copies = [await copied(to)];
  expect(copies[0]!.titles.length).toBeGreaterThan(filling.acked.size);
  expect((await verifyCopy(source)).chains).toHaveLength(1);
  await checkPrefixes(dir, copies);
};
if (long)
  test(
    'after a kill during the first base copy under load, the next start takes another one',
    killedWhileBasing,
    180_000,
  );

test('a copy to an S3 server survives outages of that server, and kills of the writing server', async () => {
  const { dir, key } = await freshDir();
  const s3 = await startS3();
  const to = 's3://copies/of/tatami';
  const source = openDestination(to, s3.settings);
  const options = { flags: ['--copy-to', to, '--copy-every', '1'], env: s3.env };
  const first = load(await startServer(dir, options), key);
  await until(() => hasBase(source));
  await s3.stop();
  await Bun.sleep(1_200);
  await s3.restart();
  const before = (await listed(source))?.length ?? 0;
  await until(async () => ((await listed(source))?.length ?? 0) > before + 1);
  await first.kill();
  const copies = [await copied(source)];

  const server = await startServer(dir, options);
  const { status } = await clientOf(server.url, key)('POST', '/api/v1/issues', {
    team: 'ENG',
    title: 'The last',
  });
  expect(status).toBe(201);
  server.child.kill('SIGTERM');
  expect(await server.child.exited).toBe(0);
  copies.push(await copied(source));
  expect(copies[1]!.titles.at(-1)).toBe('The last');
  expect(await verifyCopy(source)).toMatchObject({ chains: [{ bases: 1, moments: [{}] }], damaged: [] });
  await checkPrefixes(dir, copies);
  await s3.stop();
}, 60_000);
