// docs/spec/durability.md › Crash safety on an empty directory: a first start that is killed at any call that creates,
// writes, renames or syncs a file of the data directory does not block the next one.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../core/platform/store/open-store.ts';
import { hasStrace, underFault } from './strace.ts';

const opener = join(import.meta.dir, 'open-process.ts');
const small = [
  '',
  'lock',
  'master.key',
  'master.key.new',
  'log-head',
  'log-head.new',
  'identity',
  'identity.new',
];
const database = [
  ...['tatami.db', 'tatami.db-journal', 'tatami.db-wal'],
  ...['tatami.db-sums', 'tatami.db-sums.new'],
];

/**
 * Kills the first start at the given call of that name on its files.
 * @returns false if it made fewer calls
 */
async function killedAt(dir: string, files: string[], call: string, when: number): Promise<boolean> {
  const child = Bun.spawn(
    underFault(
      `${call}:signal=SIGKILL:when=${when}`,
      files.map((file) => join(dir, file)),
      [process.execPath, opener, dir],
    ),
    { stdout: 'ignore', stderr: 'ignore' },
  );
  await child.exited;
  return child.exitCode !== 0;
}

test.skipIf(!hasStrace)(
  'a first start that is killed at any file call does not block the next (needs strace)',
  async () => {
    const parent = mkdtempSync(join(tmpdir(), 'tatami-first-'));
    const kills = new Map<string, number>();
    const wrong: string[] = [];
    const killAll = async (files: string[], call: string, step = 1): Promise<void> => {
      for (let when = 1; ; when += step) {
        const dir = join(parent, `${files.length}-${call}-${when}`);
        if (!(await killedAt(dir, files, call, when))) break;
        kills.set(call, (kills.get(call) ?? 0) + 1);
        await Promise.resolve()
          .then(() => openStore(dir, Date.now).close())
          .catch((error: unknown) => void wrong.push(`${call} ${when}: ${String(error)}`));
      }
    };
    const smallFiles = async (): Promise<void> => {
      for (const call of ['openat', 'write', 'pwrite64', 'fsync', 'fdatasync', 'rename'])
        await killAll(small, call, process.env.TATAMI_LONG ? 1 : 12);
    };
    const databaseFiles = async (): Promise<void> => {
      for (const call of ['openat', 'fsync', 'ftruncate', 'unlink'])
        await killAll(database, call, process.env.TATAMI_LONG ? 1 : 8);
      // The migration writes a few hundred equivalent pages in one transaction, so a sample covers them.
      await killAll(database, 'pwrite64', process.env.TATAMI_LONG ? 1 : 240);
    };
    await Promise.all([smallFiles(), databaseFiles()]);
    rmSync(parent, { recursive: true, force: true });
    expect(wrong).toEqual([]);
    for (const call of ['openat', 'write', 'pwrite64', 'fsync', 'rename'])
      expect([call, (kills.get(call) ?? 0) > 0]).toEqual([call, true]);
  },
  120_000,
);
