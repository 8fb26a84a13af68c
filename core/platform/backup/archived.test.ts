// A backup without the archive files that its database references is not created, and does not count as intact.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readFacts } from '../store/files/copied-database.ts';
import { changeOffline } from '../store/engine/looking.ts';
import { openStore } from '../store/open-store.ts';
import { findDeepProblem, unpackChecked, makeBackup } from './make.ts';
import { packBackup } from './pack.ts';

const parent = mkdtempSync(join(tmpdir(), 'tatami-archived-'));
const dataDir = join(parent, 'data');
const database = join(dataDir, 'tatami.db');
const file = join(dataDir, 'archive', 'ws_1', '1-500.jsonl.zst');
const folder = join(parent, 'backups');
const options = { dataDir, folder, withKey: false, version: 'x', nowMs: Date.now, onStep: () => undefined };

beforeAll(async () => {
  await openStore(dataDir, Date.now).close();
  const sha256 = createHash('sha256').update('what old events say').digest('hex');
  changeOffline(database, (db) =>
    db.prepare("INSERT INTO event_files VALUES ('ws_1', 1, 500, 19, ?1, 1)").run([sha256]),
  );
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

test('a backup fails if an archive file is missing or damaged', async () => {
  await expect(makeBackup(options)).rejects.toThrow('archive/ws_1/1-500.jsonl.zst');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'what old events sai');
  await expect(makeBackup(options)).rejects.toThrow('archive/ws_1/1-500.jsonl.zst');
  expect(readdirSync(folder).filter((name) => name.endsWith('.backup'))).toEqual([]);
  writeFileSync(file, 'what old events say');
  const { path } = await makeBackup(options);
  expect(await findDeepProblem(path)).toBeNull();
});

test('a backup without an archive file is reported as damaged', async () => {
  const path = join(parent, 'lacking.backup');
  await packBackup(
    path,
    { version: 'x', createdAt: new Date().toISOString(), ...readFacts(database) },
    { database, beside: [], key: null },
    () => undefined,
  );
  expect(await findDeepProblem(path)).toContain('The archive file archive/ws_1/1-500.jsonl.zst');
  mkdirSync(join(parent, 'unpacked'));
  await expect(unpackChecked(path, join(parent, 'unpacked'))).rejects.toThrow(
    'missing or damaged in the backup',
  );
});
