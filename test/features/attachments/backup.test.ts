import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeBackup } from '../../../core/platform/backup/make.ts';
import { unpackBackup } from '../../../core/platform/backup/unpack.ts';
import { blobPath, digestIn } from '../../../core/platform/store/files/blobs.ts';
import { startApp } from '../../app.ts';

const directory = mkdtempSync(join(tmpdir(), 'tatami-blobs-'));
afterAll(() => rmSync(directory, { recursive: true }));

test('a backup of a running server has each file byte for byte, without unfinished and unattached ones', async () => {
  const app = await startApp();
  const { json: issue } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' });
  const upload = async (content: string): Promise<string> => {
    const path = `/api/v1/issues/${issue.id}/attachments/upload?name=a.txt`;
    const { status, json } = await app.call('POST', path, content, { 'content-type': 'text/plain' });
    expect(status).toBe(201);
    return json.sha256;
  };
  const files = new Map<string, string>();
  for (const content of ['kept in the backup', '']) files.set(await upload(content), content);
  const incoming = join(app.dataDir, 'blobs/incoming/half');
  await Bun.write(incoming, 'half of it');
  await Bun.write(
    blobPath(join(app.dataDir, 'blobs'), digestIn('f'.repeat(64))!),
    'what a sweep may remove meanwhile',
  );
  const { path: backup } = await makeBackup({
    dataDir: app.dataDir,
    folder: join(directory, 'backups'),
    withKey: false,
    version: 'test',
    nowMs: app.clock.now,
    onStep: () => undefined,
  });
  const restored = join(directory, 'restored');
  mkdirSync(restored);
  await unpackBackup(backup, restored);
  for (const [sha256, content] of files)
    expect(await Bun.file(blobPath(join(restored, 'blobs'), digestIn(sha256)!)).text()).toBe(content);
  expect(readdirSync(join(restored, 'blobs')).sort()).toEqual(
    [...files.keys()].map((sha256) => sha256.slice(0, 2)).sort(),
  );
  await app.stop();
});
