// The problem `backup` appears and disappears with its cause, no matter who solves it.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClock, type TestClock } from '../../../test/app.ts';
import { createProblems, type Problems } from '../lib/errors/failures.ts';
import { readFacts } from '../store/files/copied-database.ts';
import { openStore } from '../store/open-store.ts';
import { listBackups } from './folder.ts';
import { makeBackup } from './make.ts';
import { createBackupSchedule, type BackupSchedule } from './schedule.ts';

const parent = mkdtempSync(join(tmpdir(), 'tatami-schedule-'));
const dataDir = join(parent, 'data');
let folder = '';
let clock: TestClock;
let problems: Problems;
let schedule: BackupSchedule;

beforeAll(() => openStore(dataDir, Date.now).close());
afterAll(() => rmSync(parent, { recursive: true, force: true }));
beforeEach(() => {
  folder = join(mkdtempSync(join(parent, 'of-')), 'backups');
  clock = createClock();
  problems = createProblems(clock.nowMs);
});
afterEach(() => schedule.stop());

const make = () =>
  makeBackup({ dataDir, folder, withKey: false, version: 'x', nowMs: clock.nowMs, onStep: () => undefined });

/** @param from data directory to back up */
function start(from = dataDir): void {
  schedule = createBackupSchedule({
    dataDir: from,
    folder,
    cron: '0 3 * * *',
    retentionRule: 'last=3',
    clock,
    problems,
    log: () => undefined,
    name: readFacts(join(dataDir, 'tatami.db')).name ?? '',
  });
  schedule.start();
}

/** Runs checks until their result is as expected. */
async function until(isSo: () => boolean): Promise<void> {
  const endMs = Date.now() + 20_000;
  while (!isSo()) {
    if (Date.now() > endMs)
      throw new Error(`The condition was not reached: ${JSON.stringify(problems.list())}`);
    clock.advanceToNext(30_000);
    await Bun.sleep(5);
  }
}
const isRaised = (): boolean => problems.list().length > 0;

test('the problem of an unreadable folder is cleared once the folder is readable, without another backup', async () => {
  await make();
  renameSync(folder, `${folder}-away`);
  writeFileSync(folder, 'no folder');
  start();
  clock.advance(10_000);
  await until(isRaised);
  rmSync(folder);
  renameSync(`${folder}-away`, folder);
  await until(() => !isRaised());
  expect(await listBackups(folder)).toHaveLength(1);
});

test('a manual backup clears the problem of a failed one', async () => {
  await make();
  clock.advance(24 * 3_600_000);
  start(join(parent, 'missing'));
  await until(isRaised);
  await make();
  await until(() => !isRaised());
});

test('an empty folder in place of an unmounted disk is reported, and receives no backup', async () => {
  await make();
  start();
  const marker = join(dataDir, 'backed-up-to');
  await until(() => existsSync(marker) && readFileSync(marker, 'utf8') === `${folder}\n`);
  renameSync(folder, `${folder}-away`);
  mkdirSync(folder);
  await until(isRaised);
  expect(problems.list()[0]?.message).toContain('mount the disk');
  expect(readdirSync(folder)).toEqual([]);
  rmdirSync(folder);
  renameSync(`${folder}-away`, folder);
  await until(() => !isRaised());
});
