// docs/spec/durability.md › Backups. A backup made under load is a prefix of the log with everything acknowledged
// before; a kill at any step of backup or restore leaves nothing incomplete that counts as complete; a single changed
// byte is detected. TATAMI_LONG=1 tries every step and every byte.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProblem, listBackups } from '../../core/platform/backup/folder.ts';
import { makeBackup } from '../../core/platform/backup/make.ts';
import { restoreBackup } from '../../core/platform/backup/restore.ts';
import { openSource } from '../../core/platform/backup/source.ts';
import { readFacts, type DatabaseFacts } from '../../core/platform/store/files/copied-database.ts';
import { openStore } from '../../core/platform/store/open-store.ts';
import { createSystemClock, startApp, type Client } from '../app.ts';
import { programCommand } from '../program.ts';
import { checkOracle, everything } from './oracle.ts';
import { handedOver } from './own-copy.ts';
import { clientOf, seededRandom, startServer } from './server.ts';
import { hasStrace, underFault } from './strace.ts';

const long = process.env.TATAMI_LONG !== undefined;
const parent = mkdtempSync(join(tmpdir(), 'tatami-restore-'));
const pathOf = (name: string): string => join(parent, name);
const dataDir = pathOf('data');
const keyFile = join(dataDir, 'master.key');
let facts: DatabaseFacts;
/** A backup of `dataDir`. */
let good: string;

const post = (call: Client, name: string) =>
  call('POST', '/api/v1/issues', { team: 'ENG', title: name }, { 'idempotency-key': name });
const quietly = { withKey: false, version: '0.0.0', nowMs: Date.now, onStep: () => undefined };
const make = (folder: string, withKey = false) => makeBackup({ ...quietly, dataDir, folder, withKey });
const restore = async (path: string, to: string) =>
  restoreBackup({
    source: await openSource(path, null, noCopy),
    dataDir: to,
    key: readFileSync(keyFile),
    nowMs: Date.now,
    onProgress: () => undefined,
  });

beforeAll(async () => {
  const app = await startApp({ dataDir, clock: createSystemClock() });
  for (let i = 0; i < 3; i++) await post(app.call, `n-${i}`);
  await app.stop();
  const created = await make(pathOf('good'), true);
  good = created.path;
  facts = created.manifest;
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const noCopy = (): never => {
  throw new Error('The source is a snapshot, not a continuous copy.');
};

test('a backup made during 16 concurrent writers is a prefix of the log with all data acknowledged before it began', async () => {
  const created = pathOf('loaded');
  const app = await startApp({ dataDir: created, clock: createSystemClock() });
  const { apiKey } = app.workspace;
  await app.stop();
  const dir = handedOver(created);
  const { url, child } = await startServer(dir);
  const call = clientOf(url, apiKey);
  const acked = new Map<string, string>();
  let next = 0;
  let writing = true;
  const writers = Array.from({ length: 16 }, async () => {
    while (writing) {
      const name = `w-${next++}`;
      acked.set(name, (await post(call, name)).json.id);
    }
  });
  const taken: { path: string; before: ReadonlyMap<string, string> }[] = [];
  for (let i = 0; i < 2; i++) {
    while (acked.size < 50 * (i + 1)) await Bun.sleep(5);
    const before = new Map(acked);
    const created = Bun.spawn(programCommand(['backup', pathOf('under-load'), '--data-dir', dir, '--json']), {
      stdout: 'pipe',
      stderr: 'ignore',
    });
    taken.push({ path: JSON.parse(await new Response(created.stdout).text()).path, before });
  }
  writing = false;
  await Promise.all(writers);
  const log = await everything(call, '/events');
  child.kill('SIGKILL');
  await child.exited;
  // A backup of a killed server's directory contains all acknowledged data and does not change the directory.
  const left = await makeBackup({ ...quietly, dataDir: dir, folder: pathOf('under-load') });
  taken.push({ path: left.path, before: new Map(acked) });

  for (const [index, { path, before }] of taken.entries()) {
    expect(await findProblem(path)).toBeNull();
    const to = pathOf(`from-load-${index}`);
    await restoreBackup({
      source: await openSource(path, null, noCopy),
      dataDir: to,
      key: readFileSync(join(dir, 'master.key')),
      nowMs: Date.now,
      onProgress: () => undefined,
    });
    const restored = await startApp({ dataDir: to, clock: createSystemClock() }, app.workspace);
    await checkOracle(restored.call, before);
    const events = await everything(restored.call, '/events');
    expect(events).toEqual(
      log.slice(0, events.length).map((event, at) => ({ ...event, ...sameUrls(event, events[at]) })),
    );
    expect(events.length < log.length).toBe(path !== left.path);
    await restored.stop();
  }
}, 60_000);

/** Addresses begin with that of the responding server. */
function sameUrls(original: { data: { url?: string } }, restored: { data: { url?: string } } | undefined) {
  const url = restored?.data.url;
  return url === undefined ? {} : { data: { ...original.data, url } };
}

test('a database that is damaged where SQLite does not check is not backed up', async () => {
  const dir = pathOf('damaged');
  cpSync(dataDir, dir, { recursive: true });
  const database = join(dir, 'tatami.db');
  const bytes = readFileSync(database);
  const at = bytes.indexOf('n-1');
  bytes.writeUInt8(bytes.readUInt8(at) + 1, at);
  writeFileSync(database, bytes);
  const folder = pathOf('of-damaged');
  await expect(makeBackup({ ...quietly, dataDir: dir, folder })).rejects.toThrow('pages: 1');
  expect(await listBackups(folder)).toEqual([]);
});

test('a changed byte, a truncation and appended data are detected at any position', async () => {
  const bytes = readFileSync(good);
  const bad = pathOf('bad.backup');
  // The manifest with its header, and the header of the database.
  const headBytes = bytes.indexOf('tatami.db.zst') + 512;
  const random = seededRandom(20261122);
  const offsets = long
    ? Array.from(bytes.keys())
    : [
        ...Array.from({ length: 120 }, () => Math.floor(random() * headBytes)),
        ...Array.from({ length: 120 }, () => Math.floor(random() * bytes.length)),
        ...Array.from({ length: 50 }, (_, index) => headBytes - 1 + index),
        ...Array.from({ length: 120 }, () => bytes.length - 1 - Math.floor(random() * 4096)),
        bytes.length - 1,
      ];
  const unnoticed: string[] = [];
  const tryOn = async (what: string, change: () => void): Promise<void> => {
    change();
    if ((await findProblem(bad)) === null) unnoticed.push(what);
  };
  for (const at of offsets)
    await tryOn(`flip ${at}`, () => {
      const flipped = Buffer.from(bytes);
      flipped[at] = flipped[at]! ^ (1 << Math.floor(random() * 8));
      writeFileSync(bad, flipped);
    });
  for (const length of [
    0,
    1,
    headBytes,
    headBytes + 20,
    bytes.length - 1024,
    bytes.length - 512,
    bytes.length - 1,
  ])
    await tryOn(`cut at ${length}`, () => {
      copyFileSync(good, bad);
      truncateSync(bad, length);
    });
  await tryOn('added', () => {
    copyFileSync(good, bad);
    appendFileSync(bad, 'x');
  });
  expect(unnoticed).toEqual([]);
  // The last byte, and one in the middle of the database: neither backup can be restored.
  await expect(restore(bad, pathOf('from-bad'))).rejects.toThrow('bytes');
  const flipped = Buffer.from(bytes);
  flipped[bytes.length >> 1]! ^= 1;
  writeFileSync(bad, flipped);
  await expect(restore(bad, pathOf('from-bad'))).rejects.toThrow('damaged');
  expect(readdirSync(parent).filter((name) => name.startsWith('from-bad'))).toEqual([]);
});

/**
 * Runs a command of ours that is killed, or gets an error, at the given call on the files.
 * @returns null if it made fewer such calls
 */
async function faultAt(
  args: readonly string[],
  fault: string,
  files: readonly string[],
): Promise<{ said: string } | null> {
  const child = Bun.spawn(underFault(fault, files, programCommand(args)), {
    stdout: 'ignore',
    stderr: 'pipe',
  });
  const said = await new Response(child.stderr).text();
  await child.exited;
  return child.exitCode === 0 ? null : { said };
}

test.skipIf(!hasStrace)(
  `a kill at every ${long ? '' : 'few '}file call, or a full disk, leaves no backup or an intact one (needs strace)`,
  async () => {
    const kill = 'signal=SIGKILL';
    let faults = 0;
    const wrong: string[] = [];
    const tryAll = async (names: string[], call: string, how: string, every: number): Promise<void> => {
      for (let when = 1; ; when += every) {
        const folder = mkdtempSync(join(parent, 'made-'));
        const work = join(folder, '.unfinished');
        const files = names.map((name) => join(work, name));
        const args = ['backup', folder, '--data-dir', dataDir];
        const fault = await faultAt(args, `${call}:${how}:when=${when}`, files);
        if (!fault) break;
        if (how !== kill && !fault.said.includes('is full'))
          wrong.push(`${call} ${how} ${when}: ${fault.said}`);
        faults++;
        const left = existsSync(folder) ? await listBackups(folder) : [];
        for (const { path } of left)
          if ((await findProblem(path)) !== null)
            wrong.push(`${call} ${how} ${when}: a damaged backup is left`);
        await make(folder).catch(
          (error: unknown) => void wrong.push(`${call} ${how} ${when}: ${String(error)}`),
        );
        if (existsSync(work)) wrong.push(`${call} ${how} ${when}: an incomplete file is left`);
        rmSync(folder, { recursive: true, force: true });
      }
    };
    const [copy, packed] = [
      ['tatami.db', 'tatami.db-journal'],
      ['backup', 'backup.part'],
    ];
    // Calls are counted per thread, and another thread than that of the backup writes the copy.
    await Promise.all([
      tryAll(['..', '', ...copy, ...packed], 'openat', kill, long ? 1 : 12),
      tryAll(copy, 'pwrite64', kill, long ? 1 : 80)
        .then(() => tryAll(packed, 'write', kill, long ? 1 : 3))
        .then(() => tryAll(packed, 'fsync', kill, 1))
        .then(() => tryAll(packed, 'rename', kill, 1)),
      tryAll(copy, 'pwrite64', 'error=ENOSPC', long ? 1 : 120).then(() =>
        tryAll(packed, 'write', 'error=ENOSPC', long ? 1 : 2),
      ),
    ]);
    expect(wrong).toEqual([]);

    expect(faults).toBeGreaterThan(long ? 60 : 3);
    // The source directory is unchanged.
    await openStore(dataDir, Date.now).close();
  },
  long ? 600_000 : 120_000,
);

test.skipIf(!hasStrace)(
  `a kill at every ${long ? '' : 'few '}file call of a restore leaves nothing or a complete directory (needs strace)`,
  async () => {
    let kills = 0;
    const wrong: string[] = [];
    const killAll = async (call: string, every: number): Promise<void> => {
      for (let when = 1; ; when += every) {
        const to = pathOf(`restored-${call}-${when}`);
        const staging = `${to}.restoring`;
        const names = [
          '',
          'tatami.db',
          'tatami.db-journal',
          'tatami.db-wal',
          'tatami.db-sums',
          'log-head',
          'log-head.new',
        ];
        const files = [
          to,
          ...[...names, 'identity.new', 'master.key.new'].map((name) => join(staging, name)),
        ];
        const args = ['restore', good, '--data-dir', to];
        if (!(await faultAt(args, `${call}:signal=SIGKILL:when=${when}`, files))) break;
        kills++;
        try {
          if (!existsSync(to)) await restore(good, to);
          await openStore(to, Date.now).close();
          expect(readFacts(join(to, 'tatami.db')).workspaces).toEqual(facts.workspaces);
        } catch (error) {
          wrong.push(`${call} ${when}: ${String(error)}`);
        }
        if (existsSync(staging)) wrong.push(`${call} ${when}: an incomplete file is left`);
        rmSync(to, { recursive: true, force: true });
      }
    };
    await Promise.all([
      killAll('openat', long ? 1 : 20).then(() => killAll('rename', 1)),
      killAll('fsync', long ? 1 : 8),
      killAll('pwrite64', long ? 1 : 24),
    ]);
    expect(wrong).toEqual([]);

    expect(kills).toBeGreaterThan(long ? 30 : 3);
  },
  long ? 600_000 : 120_000,
);
