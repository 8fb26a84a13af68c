// docs/spec/durability.md › Copies: starts on a data directory that was changed or is not writable, and a server whose
// files change while it runs.
import { afterEach, expect, test } from 'bun:test';
import Database from 'libsql';
import {
  openSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adoptDatabase } from '../../core/platform/store/integrity/identity.ts';
import { openStore } from '../../core/platform/store/open-store.ts';
import { createSystemClock, startApp, type Reply, type TestApp } from '../app.ts';
import { copyAsKilled } from './own-copy.ts';
import { hasStrace, underFault } from './strace.ts';

const parents: string[] = [];
const mounted: string[] = [];
const run = (...command: string[]): boolean => Bun.spawnSync(command).exitCode === 0;
afterEach(() => {
  for (const dir of mounted.splice(0)) run('umount', '-l', dir);
  for (const dir of parents.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function fresh(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-directory-'));
  parents.push(dir);
  return dir;
}

const clock = createSystemClock();
const start = (dataDir: string, of?: TestApp): Promise<TestApp> =>
  startApp({ dataDir, clock }, of?.workspace);
const create = (app: TestApp, title: string): Promise<Reply> =>
  app.call('POST', '/api/v1/issues', {
    team: 'ENG',
    title,
    description: `${title}: ${'text '.repeat(2_500)}`,
  });
/** In another process, because closing a file of the database here would release SQLite's locks on it. */
const copy = (from: string, to: string): boolean => run('cp', '-r', from, to);
const until = async (isSo: () => Promise<boolean> | boolean): Promise<void> => {
  for (const endMs = performance.now() + 20_000; !(await isSo());) {
    if (performance.now() > endMs) throw new Error('The condition was not reached.');
    await Bun.sleep(50);
  }
};
const refusal = (dir: string): Promise<string> =>
  start(dir).then(
    async (app) => {
      await app.stop();
      return 'it started';
    },
    (error: Error) => error.message,
  );

/** A directory with two issues, and a server on it. */
async function createDirectory(): Promise<{ dir: string; parent: string; app: TestApp; ids: string[] }> {
  const parent = fresh();
  const dir = join(parent, 'data');
  const app = await start(dir);
  const ids = [(await create(app, 'one')).json.id, (await create(app, 'two')).json.id];
  // Query plans of lists once left a transaction open, which blocked checkpoints.
  await app.call('GET', '/api/v1/issues');
  return { dir, parent, app, ids };
}

/** Overwrites bytes of a text at its position in the file. */
function spoil(file: string, text: string): void {
  const at = readFileSync(file).indexOf(text);
  if (at < 0) throw new Error(`${text} is not in ${file}.`);
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.from([0xff, 0xfe]), 0, 2, at + 2);
  closeSync(fd);
}

test('the copy of a running directory is rejected with the remedy, that of a stopped one is accepted', async () => {
  const { dir, parent, app } = await createDirectory();
  copy(dir, join(parent, 'running'));
  await app.stop();
  copy(dir, join(parent, 'stopped'));
  const said = await refusal(join(parent, 'running'));
  expect(said).toContain('is a copy of a data directory whose server was running');
  expect(said).toContain('tatami backup');
  expect(said).not.toContain('delete');
  const copied = await start(join(parent, 'stopped'), app);
  expect((await copied.call('GET', '/api/v1/issues')).json.data).toHaveLength(2);
  expect((await create(copied, 'three')).status).toBe(201);
  await copied.stop();
  // The copy has its own identity after the start.
  await (await start(join(parent, 'stopped'), app)).stop();
});

test.each([
  ['the database and the key alone', ['tatami.db', 'master.key']],
  ['everything but the log head', ['tatami.db', 'tatami.db-sums', 'master.key', 'identity']],
  ['everything but the identity', ['tatami.db', 'tatami.db-sums', 'master.key', 'log-head']],
])('%s is rejected as an incomplete data directory', async (_, names) => {
  const { dir, parent, app } = await createDirectory();
  await app.stop();
  const part = join(parent, 'part');
  mkdirSync(part, { mode: 0o700 });
  for (const name of names) copy(join(dir, name), join(part, name));
  expect(await refusal(part)).toMatch(/is missing: this is not a complete data directory.*tatami backup/);
});

test('a database file of another time is rejected, or treated as damaged', async () => {
  const { dir, parent, app } = await createDirectory();
  await app.stop();
  copy(dir, join(parent, 'before'));
  const again = await start(dir, app);
  await create(again, 'three');
  await again.stop();
  // Like an operator who restores an old file over the existing one.
  run('cp', join(parent, 'before', 'tatami.db'), join(dir, 'tatami.db'));
  const said = await refusal(dir);
  expect(said).toMatch(/tatami restore/);
});

test('with one bad byte in a text, the affected data is refused, the rest is readable, and nothing is written, on every start', async () => {
  const { dir, app, ids } = await createDirectory();
  await app.stop();
  spoil(join(dir, 'tatami.db'), 'one: text text');
  for (let n = 0; n < 2; n++) {
    const damaged = await start(dir, app);
    const [problem] = damaged.services.problems.list();
    expect(problem?.kind).toBe('damage');
    expect(problem?.message).toMatch(/of issues: .* `tatami restore`/);
    const refused = await damaged.call('GET', `/api/v1/issues/${ids[0]}`);
    expect([refused.status, refused.json.error.code]).toEqual([503, 'unavailable']);
    expect(refused.json.error.message).toContain('damaged');
    expect((await damaged.call('GET', '/api/v1/teams')).json.data).toHaveLength(1);
    expect((await damaged.call('GET', '/api/v1/events')).status).toBe(200);
    expect((await create(damaged, 'three')).status).toBe(503);
    expect((await damaged.call('GET', '/readyz')).status).toBe(503);
    await damaged.stop();
  }
});

test('damage under a running server is found and reported', async () => {
  const { dir, app } = await createDirectory();
  const again = await app.restart();
  // In a separate process, like a fault of the disk.
  const spoiler = `(${spoil.toString()})(process.argv[1], 'one: text text')`;
  const program = `const { closeSync, openSync, readFileSync, writeSync } = require('fs'); ${spoiler}`;
  expect(run(process.execPath, '-e', program, join(dir, 'tatami.db'))).toBe(true);
  await until(async () => (await again.call('GET', '/readyz')).status === 503);
  expect(again.services.problems.list()[0]?.message).toMatch(/^1 damaged page \(\d+\) in .* of issues: /);
  expect((await create(again, 'three')).status).toBe(503);
  await again.stop();
  const later = await start(dir, app);
  expect(later.services.problems.list()).toMatchObject([{ kind: 'damage' }]);
  await later.stop();
});

test('pages without checksums receive them after a check of the entire database', async () => {
  const { dir, parent, app } = await createDirectory();
  await app.stop();
  const sums = readFileSync(join(dir, 'tatami.db-sums'));
  rmSync(join(dir, 'tatami.db-sums'));
  await (await start(dir, app)).stop();
  expect(readFileSync(join(dir, 'tatami.db-sums')).length).toBe(sums.length);

  const spoilt = copyAsKilled(dir, join(parent, 'spoilt'));
  rmSync(join(spoilt, 'tatami.db-sums'));
  spoil(join(spoilt, 'tatami.db'), 'one: text text');
  expect(await refusal(spoilt)).toMatch(
    /is damaged: row \d+ of issues has a text in description that is not valid UTF-8.*tatami restore/,
  );
});

test('another master key is rejected, and the correct one accepted', async () => {
  const { dir, app } = await createDirectory();
  await app.stop();
  const key = readFileSync(join(dir, 'master.key'));
  writeFileSync(join(dir, 'master.key'), `${Buffer.alloc(32, 9).toString('base64')}\n`);
  expect(await refusal(dir)).toMatch(/master.key is not the key of this database: its fingerprint is/);
  writeFileSync(join(dir, 'master.key'), key);
  await (await start(dir, app)).stop();
});

test('without a known fingerprint a stored secret verifies the key', async () => {
  const { dir, app } = await createDirectory();
  const subscription = { url: 'https://hooks.example.com/', events: ['issue.created'] };
  const reply = await app.call('POST', '/api/v1/webhooks', subscription);
  expect(reply.status).toBe(201);
  await app.stop();
  const db = new Database(join(dir, 'tatami.db'));
  db.exec('UPDATE installation SET key_fingerprint = NULL');
  db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  db.close();
  adoptDatabase(dir);
  const key = readFileSync(join(dir, 'master.key'));
  writeFileSync(join(dir, 'master.key'), `${Buffer.alloc(32, 9).toString('base64')}\n`);
  expect(await refusal(dir)).toContain('it does not decrypt a signing secret');
  writeFileSync(join(dir, 'master.key'), key);
  await (await start(dir, app)).stop();
});

test('after files are moved away from a running server, no write is acknowledged until they are back', async () => {
  const { dir, app, ids } = await createDirectory();
  renameSync(dir, `${dir}-moved`);
  await until(async () => (await create(app, 'lost')).status === 503);
  expect(app.services.problems.list()).toMatchObject([{ kind: 'files_moved' }]);
  expect((await app.call('GET', `/api/v1/issues/${ids[0]}`)).status).toBe(200);
  // A list may need another connection, which opens the file by its name.
  expect([200, 503]).toContain((await app.call('GET', '/api/v1/issues')).status);
  expect((await app.call('GET', '/readyz')).status).toBe(503);
  renameSync(`${dir}-moved`, dir);
  await until(async () => (await create(app, 'kept')).status === 201);
  expect(app.services.problems.list()).toEqual([]);
  await app.stop();
});

test('a raw copy in place of a running directory is not accepted as that of a stopped server', async () => {
  const { dir, parent, app } = await createDirectory();
  copy(dir, join(parent, 'copy'));
  renameSync(dir, join(parent, 'original'));
  renameSync(join(parent, 'copy'), dir);
  await app.stop();
  expect(await refusal(dir)).toContain('is a copy of a data directory whose server was running');
  await (await start(join(parent, 'original'), app)).stop();
});

test('a database copied by VACUUM INTO is adopted by its directory', async () => {
  const { dir, parent, app } = await createDirectory();
  const db = new Database(join(dir, 'tatami.db'));
  const restored = join(parent, 'restored');
  mkdirSync(restored, { mode: 0o700 });
  db.prepare('VACUUM INTO ?1').run([join(restored, 'tatami.db')]);
  db.close();
  await app.stop();
  copy(join(dir, 'master.key'), restored);
  run('chmod', '-R', 'go-rwx', restored);
  expect(await refusal(restored)).toContain('not a complete data directory');
  adoptDatabase(restored);
  const again = await start(restored, app);
  expect((await again.call('GET', '/api/v1/issues')).json.data).toHaveLength(2);
  expect((await create(again, 'three')).status).toBe(201);
  expect(again.services.problems.list()).toEqual([]);
  await again.stop();
});

test.skipIf(!hasStrace)(
  'after a kill during a checkpoint, the next start finds no damage (needs strace)',
  async () => {
    const { dir, parent, app } = await createDirectory();
    copyAsKilled(dir, join(parent, 'killed'));
    await app.stop();
    const opener = join(import.meta.dir, 'open-process.ts');
    const wrong: string[] = [];
    let kills = 0;
    const names = ['tatami.db', 'tatami.db-wal', 'tatami.db-sums', 'identity', 'identity.new'];
    for (const [call, step] of [
      ['pwrite64', process.env.TATAMI_LONG ? 1 : 90],
      ['fdatasync', 1],
      ['fsync', 1],
      ['ftruncate', 1],
      ['rename', 1],
    ] as const)
      for (let when = 1; ; when += step) {
        const at = copyAsKilled(join(parent, 'killed'), join(parent, `${call}-${when}`));
        const fault = `${call}:signal=SIGKILL:when=${when}`;
        const files = names.map((name) => join(at, name));
        const child = Bun.spawn(underFault(fault, files, [process.execPath, opener, at]), {
          stdout: 'ignore',
          stderr: 'ignore',
        });
        if ((await child.exited) === 0) break;
        kills++;
        const { store, onlyToRead, close } = openStore(at, Date.now);
        if (onlyToRead !== null || !store.status().writable) wrong.push(`${call} ${when}: ${onlyToRead}`);
        await close();
      }
    expect(wrong).toEqual([]);
    expect(kills).toBeGreaterThan(7);
  },
  60_000,
);

const canMount = ((): boolean => {
  const probe = mkdtempSync(join(tmpdir(), 'tatami-probe-'));
  const can =
    process.platform === 'linux' &&
    run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tatami', probe) &&
    run('umount', probe);
  rmSync(probe, { recursive: true, force: true });
  return can;
})();

test.skipIf(!canMount).each(['stopped', 'killed', 'killed and tidied'])(
  'on a read-only mount the directory of a %s server is readable (needs mount)',
  async (state) => {
    const { dir, parent, app } = await createDirectory();
    const readOnly = join(parent, 'read-only');
    if (state !== 'stopped') copyAsKilled(dir, readOnly);
    if (state === 'killed and tidied') rmSync(join(readOnly, 'tatami.db-shm'));
    await app.stop();
    if (state === 'stopped') copyAsKilled(dir, readOnly);
    expect(
      run('mount', '--bind', readOnly, readOnly) && run('mount', '-o', 'remount,bind,ro', readOnly),
    ).toBe(true);
    mounted.push(readOnly);
    const again = await start(readOnly, app);
    expect((await again.call('GET', '/api/v1/issues')).json.data).toHaveLength(2);
    expect((await create(again, 'three')).status).toBe(503);
    expect((await again.call('GET', '/readyz')).status).toBe(503);
    const [problem] = again.services.problems.list();
    expect(problem?.message).toMatch(
      /directory cannot be written: it is on a read-only file system \([\d.]+ MB free\)/,
    );
    await again.stop();
    expect(await refusal(join(readOnly, 'new'))).toMatch(
      /new cannot be written: it is on a read-only file system \([\d.]+ MB free\). Choose a writable location/,
    );
  },
);

test.skipIf(!canMount).each(['stopped', 'killed'])(
  'on a full disk the directory of a %s server is readable (needs mount)',
  async (state) => {
    const { dir, parent, app } = await createDirectory();
    const full = join(parent, 'full');
    mkdirSync(full, { mode: 0o700 });
    expect(run('mount', '-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tatami', full)).toBe(true);
    mounted.push(full);
    if (state === 'killed') copyAsKilled(`${dir}/.`, full);
    await app.stop();
    if (state === 'stopped') copyAsKilled(`${dir}/.`, full);
    Bun.spawnSync(['dd', 'if=/dev/zero', `of=${join(full, 'ballast')}`, 'bs=4096'], { stderr: 'ignore' });
    run('chmod', '600', join(full, 'ballast'));
    const again = await start(full, app);
    expect((await again.call('GET', '/api/v1/issues')).json.data).toHaveLength(2);
    expect((await create(again, 'three')).status).toBe(507);
    const [problem] = again.services.problems.list();
    expect(problem?.message).toMatch(
      /directory cannot be written: the disk is full \(0.0 MB free\).*restart the server/,
    );
    await again.stop();
    rmSync(join(full, 'ballast'));
    const roomy = await start(full, app);
    expect((await create(roomy, 'three')).status).toBe(201);
    await roomy.stop();
  },
);
