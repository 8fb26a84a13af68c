// Adoption of a database by a directory, as in `doctor fix accept`, with a kill at each step.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyPages } from '../../core/platform/store/integrity/verify.ts';
import { openStore } from '../../core/platform/store/open-store.ts';
import { copyAsKilled } from './own-copy.ts';
import { hasStrace, underFault } from './strace.ts';

const parent = mkdtempSync(join(tmpdir(), 'tatami-adopt-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

test.skipIf(!hasStrace)(
  'after a kill during the adoption of a database, the next start finds no damage (needs strace)',
  async () => {
    await openStore(join(parent, 'made'), Date.now).close();
    const program = `const [, store, dir] = process.argv;
      const { beginHistory } = await import(store + '/files/copied-database.ts');
      const { adoptDatabase } = await import(store + '/integrity/identity.ts');
      beginHistory(dir + '/tatami.db', 0);
      adoptDatabase(dir);`;
    const store = join(import.meta.dir, '../../core/platform/store');
    const wrong: string[] = [];
    let kills = 0;
    for (const call of ['rename', 'fsync', 'fdatasync', 'ftruncate', 'unlink,unlinkat'])
      for (let when = 1; ; when++) {
        const at = copyAsKilled(join(parent, 'made'), join(parent, `${call}-${when}`));
        const files = ['', '-wal', '-sums', '-sums.new'].map((name) => `tatami.db${name}`);
        const fault = `${call}:signal=SIGKILL:when=${when}`;
        const paths = [at, ...[...files, 'log-head.new', 'identity.new'].map((name) => join(at, name))];
        const child = Bun.spawn(underFault(fault, paths, [process.execPath, '-e', program, store, at]), {
          stdout: 'ignore',
          stderr: 'ignore',
        });
        if ((await child.exited) === 0) break;
        kills++;
        const { damaged } = verifyPages(join(at, 'tatami.db'));
        if (damaged.length > 0) wrong.push(`${call} ${when}: ${damaged.join()}`);
      }
    expect(wrong).toEqual([]);
    expect(kills).toBeGreaterThan(3);
  },
  60_000,
);
