// A backup holds the contents of files, and what is restored of it has them.
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeBackup } from '../../core/backup/make.ts';
import { unpackBackup } from '../../core/backup/unpack.ts';
import { startApp } from '../app.ts';

const place = mkdtempSync(join(tmpdir(), 'tatami-blobs-'));
afterAll(() => rmSync(place, { recursive: true }));

test('a file is in the backup of a running server, byte by byte; what is on its way is not', async () => {
  const app = await startApp();
  const { json: issue } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' });
  const path = `/api/v1/issues/${issue.id}/attachments/upload?name=a.txt`;
  const { json } = await app.call('POST', path, 'kept in the backup', { 'content-type': 'text/plain' });
  const incoming = join(app.dataDir, 'blobs/incoming/half');
  await Bun.write(incoming, 'half of it');
  const { path: backup } = await makeBackup({
    dataDir: app.dataDir,
    folder: join(place, 'backups'),
    withKey: false,
    version: 'test',
    nowMs: app.clock.now,
    onStep: () => undefined,
  });
  const restored = join(place, 'restored');
  mkdirSync(restored);
  await unpackBackup(backup, restored);
  const blob = join(restored, 'blobs', json.sha256.slice(0, 2), json.sha256);
  expect(await Bun.file(blob).text()).toBe('kept in the backup');
  expect(readdirSync(join(restored, 'blobs'))).toEqual([json.sha256.slice(0, 2)]);
  await app.stop();
});
