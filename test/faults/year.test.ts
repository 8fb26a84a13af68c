// A year of operation with an injected clock: an upgrade, monthly backups, a new master key, two lost disks (one
// restored from a backup, one from the continuous copy), and archived events. At the end everything that was not lost
// with the first disk exists once, and the doctor finds nothing.
import { afterAll, expect, test } from 'bun:test';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
  readFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDestination } from '../../core/platform/backup/copy/destination/destination.ts';
import { listBackups, pruneBackups } from '../../core/platform/backup/folder.ts';
import { parseRetentionRule } from '../../core/platform/backup/retention-rule.ts';
import { makeBackup } from '../../core/platform/backup/make.ts';
import { restoreBackup } from '../../core/platform/backup/restore.ts';
import { openSource } from '../../core/platform/backup/source.ts';
import { readConfig } from '../../core/app/config/config.ts';
import { examine } from '../../core/app/doctor/doctor.ts';
import { openSubject } from '../../core/app/doctor/subject.ts';
import { rotateMasterKey } from '../../core/app/setup/rotate-master-key.ts';
import { releaseFile } from '../../core/platform/store/files/private.ts';
import { createClock, startApp, type Json, type TestApp } from '../app.ts';
import { readPacked, unpack } from '../upgrade/packed.ts';
import { noS3 } from './copied.ts';

const parent = mkdtempSync(join(tmpdir(), 'tatami-year-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));
const at = (name: string): string => join(parent, name);
const packed = readPacked(join(import.meta.dir, '../upgrade/directories/schema-1.json.zst'));
const clock = createClock(Date.parse('2026-12-01T08:00:00.000Z'));
const week = 7 * 86_400_000;

/** The current directory; a lost disk removes it. */
let dataDir = at('disk-1');
let app: TestApp;
/** Off-site files of the operator. */
const safe = { key: at('safe.key'), backups: at('backups'), copy: at('copy') };
const flags = { copyTo: safe.copy, keepEvents: '60' };
const someone = { workspaceId: '', teamId: '', teamKey: 'ENG', userId: '', apiKey: packed.key, setUpUrl: '' };
/** Acknowledged titles, in order. */
let oracle: string[] = [];

async function start(): Promise<void> {
  app = await startApp({ dataDir, clock, flags }, someone);
}

async function weeks(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    const createdTitles = Array.from({ length: 15 }, (_, number) => `Week of ${day}, ${number}`);
    const issues = createdTitles.map((title) => ({ team: 'ENG', title }));
    expect((await app.call('POST', '/api/v1/issues/bulk', { issues })).status).toBe(201);
    oracle.push(...createdTitles);
    clock.jump(week);
    clock.advance(20_000);
    await app.settled();
  }
}

async function backUp(): Promise<void> {
  // Expired rows are searched every ten minutes of server time.
  clock.advance(620_000);
  await app.settled();
  await makeBackup({
    ...{ dataDir, folder: safe.backups, withKey: false, version: 'test', nowMs: clock.nowMs },
    onStep: () => undefined,
  });
  await pruneBackups(safe.backups, parseRetentionRule('last=3,daily=7,monthly=6')!);
}

async function restoreFrom(where: string): Promise<void> {
  const source = await openSource(where, null, (copy) => openDestination(copy, noS3));
  await restoreBackup({
    ...{ source, dataDir, key: readFileSync(safe.key), nowMs: clock.nowMs },
    onProgress: () => undefined,
  });
  await start();
  expect(app.services.problems.list().map(({ kind }) => kind)).toContain('held');
  writeFileSync(join(dataDir, releaseFile), '');
  clock.advance(2_000);
  await app.settled();
}

async function titles(): Promise<string[]> {
  const all: Json[] = [];
  for (let after = ''; ;) {
    const { json } = await app.call('GET', `/api/v1/issues?limit=100&sort=createdAt${after}`);
    all.push(...json.data);
    if (!json.pageInfo.hasNextPage) return all.map(({ title }) => title);
    after = `&after=${json.pageInfo.endCursor}`;
  }
}

async function feed(
  from: string,
): Promise<{ status: number; sequences: number[]; cursor: string; json: Json }> {
  const sequences: number[] = [];
  for (let cursor = from; ;) {
    const { status, json } = await app.call('GET', `/api/v1/events?limit=100&after=${cursor}`);
    if (status !== 200) return { status, sequences, cursor, json };
    sequences.push(...json.data.map(({ sequence }: Json) => sequence));
    cursor = json.pageInfo.endCursor ?? cursor;
    if (!json.pageInfo.hasNextPage) return { status, sequences, cursor, json };
  }
}

test('a year of operation loses only the data between the last backup and the loss of the first disk', async () => {
  // December: a directory whose server was killed.
  unpack(packed, dataDir);
  copyFileSync(join(dataDir, 'master.key'), safe.key);
  await start();
  oracle = await titles();
  expect(oracle.length).toBeGreaterThan(10);

  for (let month = 0; month < 3; month++) {
    await weeks(4);
    await backUp();
  }

  // March: another master key.
  await app.stop();
  await rotateMasterKey(dataDir, clock.nowMs);
  copyFileSync(join(dataDir, 'master.key'), safe.key);
  await start();
  await weeks(3);
  await backUp();
  const backedUp = [...oracle];
  await weeks(2);
  const reader = (await feed('0')).cursor;

  // The first disk is lost; a backup exists.
  await app.stop();
  rmSync(dataDir, { recursive: true });
  dataDir = at('disk-2');
  const [newest] = await listBackups(safe.backups);
  await restoreFrom(newest!.path);
  oracle = backedUp;
  expect(await titles()).toEqual(oracle);
  const reply = await feed(reader);
  expect([reply.status, reply.json.error.code]).toEqual([409, 'history_changed']);

  // Summer and autumn: old events are archived, backups are pruned, and the second disk is lost with an up-to-date
  // copy.
  for (let month = 0; month < 6; month++) {
    await weeks(4);
    await backUp();
  }
  // Housekeeping pauses between its steps, so the loop polls for the archive.
  for (let rounds = 0; !existsSync(join(dataDir, 'archive')) && rounds < 150; rounds++) {
    clock.advance(620_000);
    await app.settled();
  }
  expect(existsSync(join(dataDir, 'archive'))).toBe(true);
  await app.copier!.round();
  const before = await feed('0');
  await app.stop();
  rmSync(dataDir, { recursive: true });
  dataDir = at('disk-3');
  await restoreFrom(safe.copy);
  expect(await titles()).toEqual(oracle);
  const after = await feed('0');
  expect(after.sequences.slice(0, before.sequences.length)).toEqual(before.sequences);

  await weeks(4);
  expect(await titles()).toEqual(oracle);
  const { sequences } = await feed('0');
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  // The copy may be older than the archive, which is then created again.
  for (let rounds = 0; !existsSync(join(dataDir, 'archive')) && rounds < 150; rounds++) {
    clock.advance(620_000);
    await app.settled();
  }
  await backUp();
  expect((await listBackups(safe.backups)).length).toBeLessThanOrEqual(10);
  await app.stop();
  expect(statSync(join(dataDir, 'tatami.db')).size).toBeLessThan(9_000_000);
  const subject = openSubject(
    readConfig({ dataDir, sandboxJail: 'off', backupDir: safe.backups }, {}),
    clock.now(),
  );
  const checked = await examine(subject, () => undefined).finally(subject.close);
  const wrong = checked.flatMap(({ check, findings }) =>
    findings.flatMap(({ level, message }) => (level === 'error' ? [`${check}: ${message}`] : [])),
  );
  expect(wrong).toEqual([]);
  expect(checked.filter(({ skipped }) => skipped)).toEqual([]);

  // The newest backup includes the archived events.
  dataDir = at('disk-4');
  const [last] = await listBackups(safe.backups);
  await restoreFrom(last!.path);
  const restored = await feed('0');
  expect([restored.status, restored.sequences]).toEqual([
    200,
    restored.sequences.map((_, index) => index + 1),
  ]);
  expect(existsSync(join(dataDir, 'archive'))).toBe(true);
  await app.stop();
}, 120_000);
