// Detection of snapshots, and completeness of a restore from one.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openLive } from '../store/files/copied-database.ts';
import { changeOffline } from '../store/engine/looking.ts';
import { openStore } from '../store/open-store.ts';
import { openSource } from './source.ts';

const parent = mkdtempSync(join(tmpdir(), 'tatami-source-'));
const dataDir = join(parent, 'data');
const database = join(dataDir, 'tatami.db');
const snapshot = join(dataDir, 'snapshots', 'schema-1-2026-11-22T101502.113Z.db');
const noCopy = (): never => {
  throw new Error('The source is a snapshot, not a continuous copy.');
};

beforeAll(async () => {
  await openStore(dataDir, Date.now).close();
  const sha256 = createHash('sha256').update('what old events say').digest('hex');
  changeOffline(database, (db) =>
    db.prepare("INSERT INTO event_files VALUES ('ws_1', 1, 500, 19, ?1, 1)").run([sha256]),
  );
  mkdirSync(dirname(snapshot));
  const live = openLive(database, join(dataDir, 'log-head'));
  live.copyInto(snapshot);
  live.close();
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

test('the database of a server is rejected as a snapshot, with or without a log beside it', async () => {
  await expect(openSource(database, null, noCopy)).rejects.toThrow('Start a server on the directory');
  expect((await openSource(snapshot, null, noCopy)).schema).toBeNull();
  writeFileSync(`${snapshot}-wal`, 'what was written last');
  await expect(openSource(snapshot, null, noCopy)).rejects.toThrow('tatami backup FOLDER');
  rmSync(`${snapshot}-wal`);
});

test('a snapshot restores the archive files that it references, and is rejected if one is missing or damaged', async () => {
  const file = join(dataDir, 'archive', 'ws_1', '1-500.jsonl.zst');
  mkdirSync(dirname(file), { recursive: true });
  const bring = async (name: string): Promise<string> => {
    const folder = join(parent, name);
    mkdirSync(folder);
    await (await openSource(snapshot, null, noCopy)).bring(folder, () => undefined);
    return readFileSync(join(folder, 'archive', 'ws_1', '1-500.jsonl.zst'), 'utf8');
  };
  writeFileSync(file, 'what old events say');
  expect(await bring('whole')).toBe('what old events say');
  writeFileSync(file, 'what old events sai');
  await expect(bring('damaged')).rejects.toThrow('The archive file ws_1/1-500.jsonl.zst');
  rmSync(file);
  await expect(bring('missing')).rejects.toThrow('The archive file ws_1/1-500.jsonl.zst');
});
