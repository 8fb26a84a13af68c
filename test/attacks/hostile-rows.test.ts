// Database rows whose file reference is not a SHA-256, as another program could write them.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeBackup } from '../../core/platform/backup/make.ts';
import { unpackBackup } from '../../core/platform/backup/unpack.ts';
import { archivedName, createArchive } from '../../core/platform/store/files/archive.ts';
import { blobsIn } from '../../core/platform/store/files/blobs.ts';
import { changeOffline } from '../../core/platform/store/engine/looking.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { copyAsKilled } from '../faults/own-copy.ts';
import { tatami, temporary } from '../cli/tatami.ts';

const dir = temporary();
const masterKey = './../master.key';
let app: TestApp;
let masterKeyBytes: string;
const attachments: Json[] = [];

beforeAll(async () => {
  const first = await startApp();
  const { json: issue } = await first.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' });
  for (const content of ['first', 'second', 'third']) {
    const path = `/api/v1/issues/${issue.id}/attachments/upload?name=a.txt`;
    attachments.push((await first.call('POST', path, content, { 'content-type': 'text/plain' })).json);
  }
  const dataDir = copyAsKilled(first.dataDir, dir.path('data'));
  await first.stop();
  changeOffline(join(dataDir, 'tatami.db'), (db) => {
    const change = db.prepare('UPDATE attachments SET sha256 = ?1 WHERE id = ?2');
    change.run([masterKey, attachments[0]!.id]);
    change.run(['./../tatami.db', attachments[1]!.id]);
  });
  masterKeyBytes = readFileSync(join(dataDir, 'master.key'), 'utf8').trim();
  app = await startApp({ dataDir, clock: first.clock }, first.workspace);
});
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

test('an attachment whose row contains a path is answered with an error, and never with a file of the server', async () => {
  for (const { id } of attachments.slice(0, 2)) {
    const answer = await app.call('GET', `/api/v1/attachments/${id}/content`);
    expect([answer.status, answer.json.error.code]).toEqual([500, 'internal_error']);
    expect(answer.text).not.toContain(masterKeyBytes);
  }
  const whole = await app.call('GET', `/api/v1/attachments/${attachments[2]!.id}/content`);
  expect([whole.status, whole.text]).toEqual([200, 'third']);
});

test('a backup of a database with such rows contains the true contents but not the master key, and can be restored', async () => {
  const { path } = await makeBackup({
    ...{ dataDir: app.dataDir, folder: dir.path('backups'), withKey: false, version: 'test' },
    nowMs: app.clock.now,
    onStep: () => undefined,
  });
  expect(readFileSync(path).includes(masterKeyBytes)).toBe(false);
  const { sums, key } = await unpackBackup(path, null);
  expect([...sums.keys()]).toEqual(['manifest.json', 'tatami.db.zst', `blobs/${attachments[2]!.sha256}.zst`]);
  expect(key).toBeNull();
});

test('the doctor reports such rows, and an export rejects them', async () => {
  const copy = copyAsKilled(app.dataDir, dir.path('copy'));
  const { json } = await tatami(['doctor', '--data-dir', copy, '--json']);
  const { findings } = json.checks.find(({ check }: Json) => check === 'files');
  expect(findings[0]).toMatchObject({ level: 'error', message: expect.stringContaining(attachments[0]!.id) });
  const exported = await tatami(['export', dir.path('out.jsonl'), '--data-dir', copy, '--json']);
  expect(exported.code).toBe(1);
  expect(exported.out).toContain('has an invalid SHA-256');
});

test('housekeeping ignores files in the content folder whose name is not a SHA-256', async () => {
  const folder = join(app.dataDir, 'blobs');
  await Bun.write(join(folder, 'ab', 'master.key'), '');
  await Bun.write(join(folder, 'ab', 'c'.repeat(64)), '');
  expect(blobsIn(folder).filter((name) => !attachments.some(({ sha256 }) => sha256 === name))).toEqual([]);
});

test('an archive file is looked up only by ids and numbers', async () => {
  for (const workspaceId of ['../../x', '..', 'a/b', ''])
    expect(() => archivedName({ workspaceId, first: 1, last: 2, sha256: '' })).toThrow(
      'not written by Tatami',
    );
  const archive = createArchive(join(app.dataDir, 'archive'), () => undefined);
  const outside = archive.read('..', { first: 1, last: 2, sha256: 'f'.repeat(64) });
  await expect(outside).rejects.toThrow('not written by Tatami');
});
