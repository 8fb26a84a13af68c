// The command `tatami` as tests start it. `test/all.ts` compiles it once, together with the programs of the tests
// and by the compiler of the start-up bundle, because a run starts it some 1,600 times, and from source each command
// takes 300 ms of CPU instead of 50. One test file, and the tests of the launcher, the README and a clone, start it
// as people do in every run.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot, typedIn } from '../core/platform/lib/process/own-program.ts';
import { compileProgram } from '../core/app/start/bundler.ts';
import { programFile } from '../core/app/start/cache.ts';
import { programPrefix, type OwnProgram } from './own-programs.ts';

/**
 * Environment variable with the folder of the bundle. `test/all.ts` sets it, and `.ci/run` sets it to share
 * one between runs.
 */
export const bundleVariable = 'TATAMI_TEST_BUNDLE';

const bundle = process.env[bundleVariable] ?? '';
const source = join(packageRoot, 'core/main.ts');

/** The file that runs `tatami`: the compiled one, or `bin/tatami`. */
export const launcher = bundle === '' ? join(packageRoot, 'bin/tatami') : join(bundle, 'tatami');

/**
 * @param bunArgs flags of Bun; with them the program starts from source, because they load modules beside it
 */
export function programCommand(args: readonly string[], bunArgs: readonly string[] = []): string[] {
  if (bundle === '' || bunArgs.length > 0) return [process.execPath, ...bunArgs, source, ...args];
  return [...bundleCommand(bundle), `${typedIn}${process.cwd()}`, ...args];
}

/**
 * Environment of `bun test` for files whose speed does not matter. The highest JIT tier takes 13 % of their CPU time
 * without making them faster, and the return of free memory to the system 4 %.
 */
export const cheaper = { BUN_JSC_useFTLJIT: '0', MIMALLOC_PURGE_DELAY: '-1' };

/**
 * Most processes of tests end within a second of CPU time. The higher tiers of the JIT take an eighth of that, and
 * the return of free memory to the system some more, without making them faster.
 */
const shortLived = ['env', 'BUN_JSC_useDFGJIT=0', 'MIMALLOC_PURGE_DELAY=-1'];

/** Returns the command of one of the programs of the tests. */
export const ownCommand = (name: OwnProgram, args: readonly string[]): string[] => [
  // The latency of an arena is measured under load.
  ...(name === 'arena' ? [] : shortLived),
  ...(bundle === ''
    ? [process.execPath, join(import.meta.dir, 'program-process.ts')]
    : [join(bundle, programFile)]),
  `${programPrefix}${name}`,
  ...args,
];

/** The part of the command line before the folder, as in `bin/tatami`. */
const bundleCommand = (folder: string): string[] => [...shortLived, join(folder, programFile)];

/**
 * @returns the folder with the bundle: the one in the environment, or a temporary one of this process.
 * @throws Error if bundling fails
 */
export async function openBundle(): Promise<string> {
  if (bundle !== '' && existsSync(join(bundle, 'tatami'))) return bundle;
  const folder = bundle === '' ? mkdtempSync(join(tmpdir(), 'tatami-bundle-')) : bundle;
  if (bundle === '') process.on('exit', () => rmSync(folder, { recursive: true }));
  await makeBundle(folder);
  return folder;
}

async function makeBundle(folder: string): Promise<void> {
  await compileProgram({ entry: 'test/program-process.ts', folder });
  const words = bundleCommand(folder).map((word) => `'${word}'`);
  writeFileSync(join(folder, 'tatami'), `#!/bin/sh\nexec ${words.join(' ')} "${typedIn}$PWD" "$@"\n`, {
    mode: 0o755,
  });
}
