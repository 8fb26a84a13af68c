// An unreadable disk sector counts as damage of its page, and ends no process.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../core/platform/store/open-store.ts';
import { hasStrace, underFault } from './strace.ts';

const dir = mkdtempSync(join(tmpdir(), 'tatami-unreadable-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const integrity = join(import.meta.dir, '../../core/platform/store/integrity');

/** @returns JSON output of the program while these reads of the database fail */
async function failing(reads: string, program: string): Promise<unknown> {
  const database = join(dir, 'tatami.db');
  const command = [process.execPath, '-e', program, integrity, database];
  const child = Bun.spawn(underFault(`pread64:error=EIO:when=${reads}`, [database], command), {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const said = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
  return JSON.parse(said);
}

test.skipIf(!hasStrace)('an unreadable page is damaged, at a start and later (needs strace)', async () => {
  const { close } = openStore(dir, Date.now);
  await close();
  // Reads the header, many pages at once, which fails, and then each page.
  const start = `const [, integrity, database] = process.argv;
    const { verifyPages } = await import(integrity + '/verify.ts');
    console.log(JSON.stringify(verifyPages(database)));`;
  expect(await failing('2..4+2', start)).toEqual({ damaged: [2], isUnsure: false });
  const later = `const [, integrity, database] = process.argv;
    const { openScrub } = await import(integrity + '/verify.ts');
    const { readSums } = await import(integrity + '/page-sums.ts');
    console.log(JSON.stringify(openScrub(database, 8192).look(readSums(database), true).pages));`;
  expect(await failing('5', later)).toEqual([5]);
});
