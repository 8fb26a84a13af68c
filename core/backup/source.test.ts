// What is taken for a snapshot, and that a restore of it brings all that it names.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openLive } from '../store/copied-database.ts';
import { openStore } from '../store/open-store.ts';
import { openSource } from './source.ts';

const parent = mkdtempSync(join(tmpdir(), 'tatami-source-'));
const dataDir = join(parent, 'data');
const database = join(dataDir, 'tatami.db');
const snapshot = join(dataDir, 'snapshots', 'schema-1-2026-11-22T101502.113Z.db');
const noCopy = (): never => {
  throw new Error('No continuous copy is restored here.');
};

beforeAll(async () => {
  await openStore(dataDir, Date.now).close();
  mkdirSync(dirname(snapshot));
  const live = openLive(database, join(dataDir, 'log-head'));
  live.copyInto(snapshot);
  live.close();
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

test('the database of a server is no snapshot, with or without a log beside it', async () => {
  await expect(openSource(database, null, noCopy)).rejects.toThrow('Start a server on the directory');
  expect((await openSource(snapshot, null, noCopy)).schema).toBeNull();
  writeFileSync(`${snapshot}-wal`, 'what was written last');
  await expect(openSource(snapshot, null, noCopy)).rejects.toThrow('tatami backup FOLDER');
  rmSync(`${snapshot}-wal`);
});
