// Compiles the program with bytecode, for starts from a clone and for the tests. build/executable.ts compiles the executable, which
// contains its parts instead of reading them beside the sources.
import { readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BunPlugin, Loader } from 'bun';
import { packageRoot } from '../../platform/lib/process/own-program.ts';
import { programFile } from './cache.ts';
import { threadEntries } from './threads.ts';

export interface Bundling {
  /** Path below the package. */
  readonly entry: string;
  /** Folder that gets the program, and nothing else. */
  readonly folder: string;
  /** Reads a file that is not in a package; from disk by default. */
  readonly read?: (path: string) => string;
}

export interface Bundled {
  readonly path: string;
  /** Text that entered the program; null for a file that is not code, or whose text was changed. */
  readonly text: string | null;
}

/** Modules that load native code from a package beside theirs. */
const nativeLoader = /\/node_modules\/libsql\/(index|promise)\.js$/;

/** Packages whose files are imported by path and read when they are needed. */
const importedAsFile = /\/node_modules\/swagger-ui-dist\//;

/** Configuration files that a compiled program reads: none of the working directory at its start. */
export const autoload = {
  autoloadDotenv: false,
  autoloadBunfig: false,
  // The imports of a plugin are found by these, as from source. Modules of the program are found without them.
  autoloadTsconfig: true,
  autoloadPackageJson: true,
} as const;

/** @throws Error if the program cannot be compiled */
export async function compileProgram({ entry, folder, read }: Bundling): Promise<Bundled[]> {
  const result = await Bun.build({
    entrypoints: [entry, ...threadEntries.map((path) => `core/${path}`)].map((path) =>
      join(packageRoot, path),
    ),
    // Puts all into one folder, because the program looks for its threads there.
    naming: { entry: '[name].[ext]' },
    target: 'bun',
    format: 'esm',
    // A command loads only its own part and the bytecode of it. Only compiled programs have bytecode by parts.
    splitting: true,
    bytecode: true,
    // The text of a program stays in memory: without white space, an idle server needs 5 MiB less.
    minify: { whitespace: true },
    sourcemap: 'linked',
    metafile: true,
    env: 'disable',
    // The program starts sidecars and itself as from source.
    define: { 'process.execPath': JSON.stringify(process.execPath) },
    compile: {
      outfile: join(folder, programFile),
      ...autoload,
    },
    plugins: [places(read ?? ((path) => readFileSync(path, 'utf8')))],
    throw: false,
  });
  if (!result.success) throw new Error(result.logs.map(String).join('\n'));
  // The program contains the maps.
  const maps = result.outputs.filter(({ kind }) => kind === 'sourcemap').map(({ path }) => path);
  const texts = new Map(maps.flatMap((path) => textsOf(path)));
  for (const path of maps) rmSync(path);
  // Their paths are relative to the working directory.
  return Object.keys(result.metafile!.inputs)
    .map((input) => resolve(input))
    .filter((path) => !importedAsFile.test(path))
    .map((path) => ({ path, text: nativeLoader.test(path) ? null : (texts.get(path) ?? null) }));
}

/** Returns the texts of the sources of a map by path. */
function textsOf(path: string): [path: string, text: string][] {
  const map = JSON.parse(readFileSync(path, 'utf8')) as { sources: string[]; sourcesContent: string[] };
  return map.sources.map((source, index) => [resolve(dirname(path), source), map.sourcesContent[index]!]);
}

/** Lets compiled modules find what is beside their sources. */
function places(read: (path: string) => string): BunPlugin {
  const own = new RegExp(`^${RegExp.escape(packageRoot)}/(?!node_modules/)`);
  return {
    name: 'places',
    setup(build) {
      build.onLoad({ filter: own }, ({ path }) => ({
        contents: pinPaths(path, read(path)),
        loader: loaderOf(path),
      }));
      build.onLoad({ filter: importedAsFile }, ({ path }) => ({
        contents: `export default ${JSON.stringify(path)};`,
        loader: 'js',
      }));
      build.onLoad({ filter: nativeLoader }, ({ path }) => ({
        contents: readFileSync(path, 'utf8').replace('`@libsql/', `\`${join(path, '../../@libsql')}/`),
        loader: 'js',
      }));
    },
  };
}

/** Sources of the program are TypeScript and JSON; files of other types are imported as text. */
function loaderOf(path: string): Loader {
  if (path.endsWith('.ts')) return 'ts';
  return path.endsWith('.json') ? 'json' : 'text';
}

/** Folder of the modules in a compiled program. */
const compiledFolder = '/$bunfs/root';

/** Pins `import.meta` paths to the sources, and those of threads to the program. */
function pinPaths(path: string, text: string): string {
  const threads = threadEntries.map((entry) => basename(entry, '.ts')).join('|');
  return text
    .replaceAll(
      new RegExp(`new URL\\('\\./(${threads})\\.ts', import\\.meta\\.url\\)`, 'g'),
      (_, name) => `new URL(${JSON.stringify(pathToFileURL(join(compiledFolder, `${name}.js`)).href)})`,
    )
    .replaceAll(/import\.meta\.dir\b/g, () => JSON.stringify(dirname(path)))
    .replaceAll(/import\.meta\.url\b/g, () => JSON.stringify(pathToFileURL(path).href));
}
