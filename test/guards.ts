// Removes a guard from a copy of the sources and expects its suite to fail, which proves that the suite tests
// the guard. Each run removes a few guards; TATAMI_LONG=1 removes all.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const long = process.env.TATAMI_LONG !== undefined;
const root = join(import.meta.dir, '..');

export interface Guard {
  readonly name: string;
  readonly file: string;
  readonly guarding: string;
  readonly broken: string;
  /** The smallest suite that fails without the guard. */
  readonly suite: string;
}

/** @param fast guards that are removed in every run */
export function testGuards(guards: readonly Guard[], fast: readonly (Guard | undefined)[]): void {
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'tatami-guards-'));
    for (const folder of [
      'build',
      'core',
      'dashboard',
      'docs',
      'sdk',
      'plugins',
      'test',
      'package.json',
      'bun.lock',
      'bunfig.toml',
      'tsconfig.json',
    ])
      cpSync(join(root, folder), join(copy, folder), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  async function failures(suite: string): Promise<string[]> {
    // One failure is sufficient.
    const bail = long ? [] : ['--bail'];
    const child = Bun.spawn([process.execPath, 'test', '--timeout', '20000', ...bail, suite], {
      cwd: copy,
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...process.env, TATAMI_LONG: undefined },
    });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    await child.exited;
    return [
      ...new Set([...(out + err).matchAll(/^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/gm)].map(([, name]) => name!)),
    ];
  }

  test('the text of every guard occurs once in its file', () => {
    const absent = guards.flatMap(({ name, file, guarding }) => {
      const path = join(root, file);
      const times = existsSync(path) ? readFileSync(path, 'utf8').split(guarding).length - 1 : 0;
      return times === 1 ? [] : [`${name}: ${file}, ${times} times`];
    });
    expect(absent).toEqual([]);
  });

  for (const { name, file, guarding, broken, suite } of guards.filter(
    (guard) => long || fast.includes(guard),
  ))
    test(`${name}: ${suite} fails without this guard`, async () => {
      const path = join(copy, file);
      const source = readFileSync(path, 'utf8');
      writeFileSync(path, source.replace(guarding, broken));
      const red = await failures(suite);
      writeFileSync(path, source);
      if (long) console.log(`${name}: ${red.length} red, such as\n  ${red.slice(0, 3).join('\n  ')}`);
      expect([name, red.length > 0]).toEqual([name, true]);
    }, 120_000);
}
