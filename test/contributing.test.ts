// Applies the examples of CONTRIBUTING.md to a copy of the tree, and runs the contract-driven tests there
// unchanged.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { blocksOf, type Block } from './documents/blocks.ts';

const root = join(import.meta.dir, '..');
const tree = mkdtempSync(join(tmpdir(), 'tatami-contributing-'));
const copied = [
  'core',
  'dashboard',
  'sdk',
  'plugins',
  'examples',
  'test',
  'bench',
  'build',
  'docs',
  'bin',
  'package.json',
  'tsconfig.json',
  'bunfig.toml',
  'bun.lock',
  'CONTRIBUTING.md',
];

/**
 * Applies a diff to a file: lines with a space or a minus must occur together exactly once, and lines with a
 * plus replace them.
 */
function changed(text: string, { name: file, text: change }: Block): string {
  const lines = change.trimEnd().split('\n');
  const without = (mark: string): string =>
    lines
      .filter((line) => !line.startsWith(mark))
      .map((line) => line.slice(1))
      .join('\n');
  const parts = text.split(`${without('+')}\n`);
  if (parts.length !== 2)
    throw new Error(`${file} has these lines ${parts.length - 1} times:\n${without('+')}`);
  return parts.join(`${without('-')}\n`);
}

function put(block: Block): void {
  const { language, name: file, text } = block;
  const path = join(tree, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, language === 'diff' ? changed(readFileSync(path, 'utf8'), block) : text);
}

async function run(...command: string[]): Promise<{ code: number; output: string }> {
  const child = Bun.spawn(command, {
    cwd: tree,
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, UPDATE_DOCS: '1' },
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, output: out + err };
}
const passes = async (...command: string[]): Promise<void> => {
  const { code, output } = await run(...command);
  expect([command.join(' '), code, code === 0 ? '' : output]).toEqual([command.join(' '), 0, '']);
};
const bun = process.execPath;

beforeAll(() => {
  for (const name of copied) cpSync(join(root, name), join(tree, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  // Only blocks with a file name: whole files and diffs.
  for (const block of blocksOf(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')))
    if (['ts', 'sql', 'diff'].includes(block.language) && block.name !== '') put(block);
});
afterAll(() => rmSync(tree, { recursive: true, force: true }));

test('after the examples, the generated files are written and the types check', async () => {
  await passes(bun, 'run', 'generate');
  await passes(bun, 'check');
  await passes(bun, 'fmt', '--no-script', '--check', 'core');
}, 60_000);

test('the contract-driven tests cover the new resource without changes, and the new timer fires once', async () => {
  await passes(
    bun,
    'test',
    '--timeout=60000',
    'test/api/scopes.test.ts',
    'test/resources',
    'test/api/openapi.test.ts',
    'test/rights/roles.test.ts',
    'test/api/event-types.test.ts',
    'test/tables.test.ts',
    'test/features/objectives.test.ts',
  );
}, 120_000);

test('the new setting and the new check are shown', async () => {
  const help = await run(bun, 'core/main.ts', 'serve', '--help');
  expect([help.code, help.output]).toEqual([0, expect.stringContaining('--missed-objectives')]);
  const data = join(tree, 'data');
  await run(bun, 'core/main.ts', 'init', '--workspace', 'Acme', '--team', 'ENG', '--data-dir', data);
  const { output } = await run(bun, 'core/main.ts', 'doctor', '--json', '--data-dir', data);
  expect(output).toContain('"objectives"');
}, 60_000);

test('the resource has derived commands, a command with a fixed body, and a handwritten one', async () => {
  const { code, output } = await run(bun, 'core/main.ts', 'objectives', '--help');
  expect(code).toBe(0);
  const verbs = [...output.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(([, verb]) => verb);
  expect(verbs.toSorted()).toEqual([
    'create',
    'delete',
    'list',
    'overview',
    'reach',
    'restore',
    'show',
    'update',
  ]);
}, 30_000);
