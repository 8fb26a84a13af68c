// The command `tatami` as tests start it. A run of all tests starts some hundred servers and commands: `test/all.ts` bundles the program
// once, with bytecode, because a server started from source needs twice the CPU time. One file of tests starts it from source, and
// so do the tests of the launcher, of the README and of a clone in every run.
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cleanBunFlags, packageRoot } from '../core/lib/clean-bun.ts';
import { typedIn } from '../core/lib/own-program.ts';
import { programPrefix, type OwnProgram } from './own-programs.ts';

/** Names the folder with the bundle; `test/all.ts` sets it, and `.ci/run` so that several runs share one. */
export const bundleVariable = 'TATAMI_TEST_BUNDLE';

const bundle = process.env[bundleVariable] ?? '';
const source = join(packageRoot, 'core/main.ts');

/** The file to run for `tatami`: the bundle's launcher, or `bin/tatami`. */
export const launcher = bundle === '' ? join(packageRoot, 'bin/tatami') : join(bundle, 'tatami');

/** @param bunArgs flags of Bun itself; with them the program starts from source, because they load modules beside it */
export function programCommand(args: readonly string[], bunArgs: readonly string[] = []): string[] {
  if (bundle === '' || bunArgs.length > 0) return [process.execPath, ...bunArgs, source, ...args];
  return [...bundleCommand(bundle), `${typedIn}${process.cwd()}`, ...args];
}

/** Starts one of the tests' own programs. */
export const ownCommand = (name: OwnProgram, args: readonly string[]): string[] => [
  process.execPath,
  bundle === '' ? join(import.meta.dir, 'program-process.ts') : join(bundle, 'program-process.js'),
  `${programPrefix}${name}`,
  ...args,
];

/** The part of the command line that `bin/tatami` has, too, before the folder. */
const bundleCommand = (folder: string): string[] => [
  process.execPath,
  ...cleanBunFlags,
  `--cwd=${packageRoot}`,
  join(folder, 'program-process.js'),
];

/** @returns the folder with the bundle: the one that the environment names, or one that goes with this process. @throws Error when something does not bundle */
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

/** What a module finds beside itself stays where the sources are; the writer's thread is bundled. */
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
