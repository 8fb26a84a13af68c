// Restoring a backup revives no session or link that ended after the backup was made.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeBackup } from '../../core/platform/backup/make.ts';
import { restoreBackup } from '../../core/platform/backup/restore.ts';
import { openSource } from '../../core/platform/backup/source.ts';
import { createSessions } from '../../core/features/sign-in/sessions.ts';
import { createSystemClock, startApp } from '../app.ts';
import { signIn } from '../features/sign-in/person.ts';

const parent = mkdtempSync(join(tmpdir(), 'tatami-restored-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

test('a session that ended after a backup stays ended when the backup is restored', async () => {
  const [dataDir, restored] = [join(parent, 'data'), join(parent, 'restored')];
  const app = await startApp({ dataDir, clock: createSystemClock() });
  const { cookie, who } = await signIn(app);
  const { path } = await makeBackup({
    ...{ dataDir, folder: join(parent, 'backups'), withKey: true, version: '0.0.0' },
    ...{ nowMs: Date.now, onStep: () => undefined },
  });
  const findSession = (of: typeof app) => createSessions(of.services).find(new Headers({ cookie }));
  expect(await findSession(app)).not.toBeNull();
  await createSessions(app.services).end(who.accountId, who.sessionId);
  await app.stop();
  const source = await openSource(path, null, () => {
    throw new Error('A backup needs no copy.');
  });
  await restoreBackup({
    ...{ source, dataDir: restored, key: null },
    ...{ nowMs: Date.now, onProgress: () => undefined },
  });
  const again = await startApp({ dataDir: restored, clock: createSystemClock() });
  expect(await findSession(again)).toBeNull();
  // The account and its membership still exist, so that the person can sign in again.
  expect(await createSessions(again.services).begin(who.accountId, { address: '', agent: '' })).toContain(
    '=',
  );
  await again.stop();
});
