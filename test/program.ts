// The command `tatami` as tests start it. `test/all.ts` bundles the program once, with bytecode, because a
// start from source takes twice the CPU time and a run has some hundred of them. One test file, and the tests
// of the launcher, the README and a clone, start it from source in every run.
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cleanBunFlags, packageRoot } from '../core/lib/clean-bun.ts';
import { typedIn } from '../core/lib/own-program.ts';
import { programPrefix, type OwnProgram } from './own-programs.ts';

/**
 * Environment variable with the folder of the bundle. `test/all.ts` sets it, and `.ci/run` sets it to share
 * one between runs.
 */
export const bundleVariable = 'TATAMI_TEST_BUNDLE';

const bundle = process.env[bundleVariable] ?? '';
const source = join(packageRoot, 'core/main.ts');

/** The file that runs `tatami`: the launcher of the bundle, or `bin/tatami`. */
export const launcher = bundle === '' ? join(packageRoot, 'bin/tatami') : join(bundle, 'tatami');

/**
 * @param bunArgs flags of Bun; with them the program starts from source, because they load modules beside it
 */
export function programCommand(args: readonly string[], bunArgs: readonly string[] = []): string[] {
  if (bundle === '' || bunArgs.length > 0) return [process.execPath, ...bunArgs, source, ...args];
  return [...bundleCommand(bundle), `${typedIn}${process.cwd()}`, ...args];
}

/** Returns the command of one of the programs of the tests. */
export const ownCommand = (name: OwnProgram, args: readonly string[]): string[] => [
  process.execPath,
  bundle === '' ? join(import.meta.dir, 'program-process.ts') : join(bundle, 'program-process.js'),
  `${programPrefix}${name}`,
  ...args,
];

/** The part of the command line before the folder, as in `bin/tatami`. */
const bundleCommand = (folder: string): string[] => [
  process.execPath,
  ...cleanBunFlags,
  `--cwd=${packageRoot}`,
  join(folder, 'program-process.js'),
];

/**
 * @returns the folder with the bundle: the one in the environment, or a temporary one of this process.
 * @throws Error if bundling fails
 */
export async function openBundle(): Promise<string> {
  if (bundle !== '' && existsSync(join(bundle, 'tatami'))) return bundle;
  const folder = bundle === '' ? mkdtempSync(join(tmpdir(), 'tatami-bundle-')) : bundle;
  if (bundle === '') process.on('exit', () => rmSync(folder, { recursive: true }));
  await bundleProgram(folder);
  return folder;
}

async function bundleProgram(folder: string): Promise<void> {
  const result = await Bun.build({
    entrypoints: ['test/program-process.ts', 'core/store/writer/thread-main.ts'].map((path) =>
      join(packageRoot, path),
    ),
    naming: { entry: '[name].[ext]' },
    outdir: folder,
    target: 'bun',
    format: 'cjs',
    bytecode: true,
    env: 'disable',
    plugins: [{ name: 'places', setup: (build) => void build.onLoad({ filter: ownSource }, pinModulePaths) }],
    throw: false,
  });
  if (!result.success) throw new Error(result.logs.map(String).join('\n'));
  if (!existsSync(join(folder, 'node_modules')))
    symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
  const words = bundleCommand(folder).map((word) => `'${word}'`);
  writeFileSync(join(folder, 'tatami'), `#!/bin/sh\nexec ${words.join(' ')} "${typedIn}$PWD" "$@"\n`, {
    mode: 0o755,
  });
}

const ownSource = /\/(core|sdk|test)\/.*\.ts$/;

/** Pins `import.meta` paths to the sources, except for the bundled thread of the writer. */
function pinModulePaths({ path }: { path: string }): { contents: string; loader: 'ts' } {
  const text = readFileSync(path, 'utf8');
  const contents = path.endsWith('/writer/thread.ts')
    ? text
        .replace('./thread-main.ts', './thread-main.js')
        .replace('import.meta.url', 'Bun.pathToFileURL(__filename)')
    : text
        .replaceAll('import.meta.dir', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href));
  return { contents, loader: 'ts' };
}
