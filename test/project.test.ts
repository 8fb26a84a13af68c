// The project itself: it type-checks, it is formatted, the linter is content, and it names no machine and no registry.
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dir, '..');

function run(...command: string[]): { code: number; output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: root, stdout: 'pipe', stderr: 'pipe' });
  return { code: exitCode, output: stdout.toString() + stderr.toString() };
}

const bun = process.execPath;
const folders = ['core', 'sdk', 'plugins', 'examples', 'test', 'bench'];

test('types', () => {
  expect(run(bun, 'check')).toMatchObject({ code: 0 });
}, 60_000);

test('format', () => {
  expect(run(bun, 'fmt', '--no-script', '--check', ...folders)).toMatchObject({ code: 0 });
});

test('lint', () => {
  expect(run(join(root, 'node_modules/.bin/oxlint'), '--deny-warnings', ...folders)).toMatchObject({
    code: 0,
  });
});

const hasHistory = Bun.which('git') !== null && existsSync(join(root, '.git'));

test.skipIf(!hasHistory)('no machine path, registry host or left-over in what git tracks (needs git)', () => {
  const found = run(
    'git',
    'grep',
    '-nIE',
    `/wor[k]/(main|shared|\\.)|/bash_job[s]|registry\\.npmj[s]|\\b(test|it|describe)\\.onl[y]\\(|TOD[O]|FIXM[E]`,
    '--',
    '.',
    ':!bun.lock',
  );
  expect(found.output).toBe('');
});
