// Planted symbolic links and files cannot make Tatami write, remove or change modes outside its directories.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeBackup } from '../../core/platform/backup/make.ts';
import { restoreBackup } from '../../core/platform/backup/restore.ts';
import { openSource } from '../../core/platform/backup/source.ts';
import { openFolder } from '../../core/platform/backup/copy/destination/destination.ts';
import { readConfig } from '../../core/app/config/config.ts';
import { mend } from '../../core/app/doctor/mend.ts';
import { openSubject } from '../../core/app/doctor/subject.ts';
import { permissions } from '../../core/app/doctor/directory-checks.ts';
import { tryLock } from '../../core/platform/store/files/data-dir.ts';
import { writeWholeFile } from '../../core/platform/store/files/installation.ts';
import { startApp, createSystemClock } from '../app.ts';
import { tatami } from '../cli/tatami.ts';

const parent = mkdtempSync(join(tmpdir(), 'tatami-planted-'));
const whole = join(parent, 'whole');
const outside = join(parent, 'outside');
const secret = join(outside, 'notes.new');
let dir: string;
let copies = 0;

beforeAll(async () => {
  const app = await startApp({ dataDir: whole, clock: createSystemClock() });
  await app.stop();
});
beforeEach(() => {
  dir = join(parent, String(++copies));
  cpSync(whole, dir, { recursive: true });
  chmodSync(dir, 0o700);
  rmSync(outside, { recursive: true, force: true });
  mkdirSync(outside, { mode: 0o755 });
  writeFileSync(secret, 'mine', { mode: 0o644 });
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** Content and mode of the files that no command may change. */
const untouched = (): unknown[] => [
  readdirSync(outside),
  readFileSync(secret, 'utf8'),
  statSync(secret).mode & 0o777,
  statSync(outside).mode & 0o777,
];
const asItWas = [['notes.new'], 'mine', 0o644, 0o755];
const subjectOf = () => openSubject(readConfig({ dataDir: dir }, {}), Date.now());
const plain = { backup: null, yes: false, altered: false };
const failure = (work: Promise<unknown>): Promise<string> => work.then(String, String);

test('doctor fix changes no mode and removes no file through a link in the data directory', async () => {
  mkdirSync(join(dir, 'blobs/ab'), { recursive: true, mode: 0o700 });
  symlinkSync(outside, join(dir, 'blobs/ab/cd'));
  symlinkSync(outside, join(dir, 'archive'));
  symlinkSync(secret, join(dir, 'snapshot.new'));
  symlinkSync('nowhere', join(dir, 'dead'));
  chmodSync(join(dir, 'log-head'), 0o644);
  const subject = subjectOf();
  const messages = (await permissions.look(subject)).map(({ message }) => message).join('\n');
  subject.close();
  expect(messages).toContain(join(dir, 'archive'));
  expect(messages).not.toContain(outside);
  expect(await mend(subjectOf(), 'permissions', plain)).toContain('made 1 files private');
  expect(await mend(subjectOf(), 'leftovers', plain)).toBe('removed 1 unfinished files.');
  expect(untouched()).toEqual(asItWas);
  expect(lstatSync(join(dir, 'archive')).isSymbolicLink()).toBe(true);
});

test('doctor fix rejects a backup that contains links instead of files', async () => {
  const aside = mkdtempSync(join(parent, 'aside-'));
  symlinkSync(outside, join(dir, 'archive'));
  const consent = { backup: aside, yes: true, altered: true };
  expect(await failure(mend(subjectOf(), 'accept', consent))).toContain('Pass a backup with --backup FILE');
  expect(readdirSync(aside)).toEqual([]);
});

test.each(['tatami.db', 'tatami.db-wal', 'log-head', 'identity', 'lock'])(
  'doctor fix writes through no link in place of %s',
  async (name) => {
    const target = join(outside, 'target');
    if (existsSync(join(dir, name))) cpSync(join(dir, name), target);
    else writeFileSync(target, 'mine');
    const before = readFileSync(target);
    rmSync(join(dir, name), { force: true });
    symlinkSync(target, join(dir, name));
    expect(await failure(mend(subjectOf(), 'indexes', plain))).toContain('is a symbolic link');
    expect(readFileSync(target)).toEqual(before);
  },
);

test('a lock that is a link truncates no other file', () => {
  symlinkSync(secret, join(dir, '.lock'));
  expect(() => tryLock(join(dir, '.lock'))).toThrow('is a symbolic link');
  expect(untouched()).toEqual(asItWas);
});

test('credentials, keys and copies replace a planted file, and never write into it', async () => {
  for (const name of ['credentials.json', 'master.key']) {
    const path = join(dir, name);
    symlinkSync(secret, `${path}.new`);
    rmSync(path, { force: true });
    symlinkSync(secret, path);
    writeWholeFile(path, 'token');
    expect([readFileSync(path, 'utf8'), lstatSync(path).isFile()]).toEqual(['token', true]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    // A file of that name belongs to another user, who has it open.
    writeFileSync(`${path}.new`, '', { mode: 0o666 });
    const fd = openSync(`${path}.new`, 'r');
    writeWholeFile(path, 'token');
    expect(readFileSync(fd, 'utf8')).toBe('');
    closeSync(fd);
  }
  symlinkSync(secret, join(dir, 'segment.new'));
  await openFolder(dir).put('segment', Buffer.from('bytes'));
  expect(untouched()).toEqual(asItWas);
});

test('backup and restore neither empty nor fill a folder that was planted beside their target', async () => {
  const shared = mkdtempSync(join(parent, 'shared-'));
  symlinkSync(outside, join(shared, '.unfinished'));
  const backup = await makeBackup({
    ...{ dataDir: whole, folder: shared, withKey: true, version: '0.0.0' },
    ...{ nowMs: Date.now, onStep: () => undefined },
  });
  expect(untouched()).toEqual(asItWas);
  const restore = async (to: string) =>
    restoreBackup({
      source: await openSource(backup.path, null, () => {
        throw new Error('no copy');
      }),
      ...{ dataDir: to, key: null, nowMs: Date.now, onProgress: () => undefined },
    });
  const plant: Record<string, (staging: string) => void> = {
    'a link': (staging) => symlinkSync(outside, staging),
    'a folder open to others': (staging) => mkdirSync(staging, { mode: 0o777 }),
  };
  if (process.geteuid?.() === 0)
    plant["another user's folder"] = (staging) => {
      mkdirSync(staging, { mode: 0o700 });
      chownSync(staging, 65_534, 65_534);
    };
  for (const [name, make] of Object.entries(plant)) {
    const to = join(shared, name);
    make(`${to}.restoring`);
    if (name === 'a folder open to others') chmodSync(`${to}.restoring`, 0o777);
    expect([name, await failure(restore(to))]).toEqual([
      name,
      expect.stringContaining('choose another path'),
    ]);
    expect(existsSync(to)).toBe(false);
  }
  expect(untouched()).toEqual(asItWas);
  expect((await restore(join(shared, 'new'))).workspaces).toBe(1);
});

test('a backup includes no file that a link in the archive points to', async () => {
  mkdirSync(join(dir, 'archive'), { mode: 0o700 });
  writeFileSync(join(outside, 'private.events'), 'words from outside');
  symlinkSync(outside, join(dir, 'archive/elsewhere'));
  const backup = await makeBackup({
    ...{ dataDir: dir, folder: join(parent, 'of-archive'), withKey: false, version: '0.0.0' },
    ...{ nowMs: Date.now, onStep: () => undefined },
  });
  expect(readFileSync(backup.path).includes('archive/elsewhere')).toBe(false);
});

test('operator commands go to no socket that another user, or a link, put in place of the server’s', async () => {
  const fake = join(outside, 'fake.sock');
  const requestedUrls: string[] = [];
  const server = Bun.serve({
    unix: fake,
    fetch: (request) => (requestedUrls.push(request.url), Response.json({ answer: [] })),
  });
  symlinkSync(fake, join(dir, 'operator.sock'));
  const listed = await tatami(['keys', 'list', '--data-dir', dir, '--json']);
  expect([listed.code, listed.json.error?.message]).toEqual([
    1,
    expect.stringContaining('is not the socket of'),
  ]);
  expect(requestedUrls).toEqual([]);
  await server.stop(true);
});

test('an export is readable only by its user, regardless of an existing file of its name', async () => {
  const out = join(dir, 'out.jsonl');
  symlinkSync(secret, `${out}.part`);
  const exported = async (...more: string[]) =>
    (await tatami(['export', out, '--data-dir', dir, '--json', ...more])).code;
  symlinkSync(secret, out);
  expect([await exported(), await exported('--force')]).toEqual([1, 1]);
  rmSync(out);
  writeFileSync(out, 'earlier', { mode: 0o644 });
  expect([await exported(), await exported('--force')]).toEqual([1, 0]);
  expect([lstatSync(out).isFile(), statSync(out).mode & 0o777]).toEqual([true, 0o600]);
  expect(untouched()).toEqual(asItWas);
});
