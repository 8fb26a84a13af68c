// Files that commands write never replace a file that may still be needed.
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tatami, temporary } from './tatami.ts';

const example = join(import.meta.dir, '../../examples/assign-on-create');

test('an export replaces an existing file only with --force', async () => {
  using dir = temporary();
  const dataDir = dir.path('data');
  const of = ['--data-dir', dataDir, '--workspace', 'Acme', '--team', 'ENG', '--port', '0'];
  const initResult = await tatami(['init', ...of]);
  expect([initResult.code, initResult.out]).toEqual([0, expect.stringContaining('replace 0 with its port')]);
  const file = dir.path('acme.jsonl');
  const write = (...more: string[]) => tatami(['export', file, '--data-dir', dataDir, '--json', ...more]);
  writeFileSync(file, 'accounts of 2025');
  const refused = await write();
  expect([refused.code, refused.json.error.message]).toEqual([
    1,
    `${file} already exists. Choose another file, or replace it with --force.`,
  ]);
  expect(readFileSync(file, 'utf8')).toBe('accounts of 2025');
  expect((await write('--force')).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('"table":"workspaces"');
  const link = dir.path('link.jsonl');
  symlinkSync(file, link);
  const linked = await tatami(['export', link, '--data-dir', dataDir, '--json', '--force']);
  expect([linked.code, linked.json.error.message]).toEqual([1, expect.stringContaining('symbolic link')]);
  expect(readdirSync(dir.path('')).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('a package and a signature replace earlier ones of the same plugin, and no other file', async () => {
  using dir = temporary();
  const [file, key] = [dir.path('notes.json'), dir.path('acme.key')];
  const plugin = (...args: string[]) => tatami(['plugins', ...args, '--json']);
  const pack = (...more: string[]) => plugin('pack', example, '--out', file, ...more);
  writeFileSync(file, '{"notes":[]}');
  const refused = await pack();
  expect([refused.code, refused.json.error.message]).toEqual([1, expect.stringContaining('--force')]);
  expect(readFileSync(file, 'utf8')).toBe('{"notes":[]}');
  expect([(await pack('--force')).code, (await pack()).code]).toEqual([0, 0]);
  expect((await plugin('keygen', key)).code).toBe(0);
  const sign = (...more: string[]) => plugin('sign', file, '--key', key, ...more);
  writeFileSync(`${file}.sig`, 'Yours sincerely');
  const unsigned = await sign();
  expect([unsigned.code, unsigned.json.error.message]).toEqual([1, expect.stringContaining('--force')]);
  expect([(await sign('--force')).code, (await sign()).code]).toEqual([0, 0]);
});
