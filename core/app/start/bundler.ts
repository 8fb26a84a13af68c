// Bundles the program with bytecode, for starts from a clone and for the tests. build/executable.ts bundles the
// executable, which contains its parts instead of reading them beside the sources.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BunPlugin, Loader } from 'bun';
import { packageRoot } from '../../platform/lib/process/own-program.ts';
import { threadEntries } from './threads.ts';

export interface Bundling {
  /** Path below the package. The bundle has its file name with the extension `.js`. */
  readonly entry: string;
  readonly folder: string;
  /** Folder in which the bundle is used, if it differs from `folder`. */
  readonly home?: string;
  /** Reads a file that is not in a package; from disk by default. */
  readonly read?: (path: string) => string;
}

export interface Bundled {
  readonly path: string;
  /** Text that entered the bundle; null for a file that is not code. */
  readonly text: string | null;
}

/** Packages whose files are imported by path and read when they are needed. */
const importedAsFile = /\/node_modules\/swagger-ui-dist\//;

/** @throws Error if bundling fails */
export async function bundleProgram({ entry, folder, home = folder, read }: Bundling): Promise<Bundled[]> {
  const result = await Bun.build({
    entrypoints: [entry, ...threadEntries.map((path) => `core/${path}`)].map((path) =>
      join(packageRoot, path),
    ),
    // Puts all into one folder, because the program looks for its threads there.
    naming: { entry: '[name].[ext]' },
    outdir: folder,
    target: 'bun',
    // Bun writes bytecode of modules for executables only.
    format: 'cjs',
    bytecode: true,
    // The text of a bundle stays in memory: without white space, an idle server needs 5 MiB less.
    minify: { whitespace: true },
    sourcemap: 'linked',
    metafile: true,
    env: 'disable',
    plugins: [places(home, read ?? ((path) => readFileSync(path, 'utf8')))],
    throw: false,
  });
  if (!result.success) throw new Error(result.logs.map(String).join('\n'));
  const maps = result.outputs.filter(({ kind }) => kind === 'sourcemap');
  const texts = new Map(maps.flatMap(({ path }) => separateTexts(path)));
  // Their paths are relative to the working directory.
  return Object.keys(result.metafile!.inputs)
    .map((input) => resolve(input))
    .filter((path) => !importedAsFile.test(path))
    .map((path) => ({ path, text: texts.get(path) ?? null }));
}

/**
 * Moves the texts of the sources out of a source map, because the first error of a process parses the map: 25 ms
 * instead of 80. Bun rejects a map without the list of texts.
 * @returns the texts by path
 */
function separateTexts(path: string): [path: string, text: string][] {
  const map = JSON.parse(readFileSync(path, 'utf8')) as { sources: string[]; sourcesContent: string[] };
  writeFileSync(path, JSON.stringify({ ...map, sourcesContent: map.sources.map(() => null) }));
  return map.sources.map((source, index) => [resolve(dirname(path), source), map.sourcesContent[index]!]);
}

/** Lets bundled modules find what is beside their sources. */
function places(home: string, read: (path: string) => string): BunPlugin {
  const own = new RegExp(`^${RegExp.escape(packageRoot)}/(?!node_modules/)`);
  return {
    name: 'places',
    setup(build) {
      build.onLoad({ filter: own }, ({ path }) => ({
        contents: pinPaths(path, read(path), home),
        loader: loaderOf(path),
      }));
      build.onLoad({ filter: importedAsFile }, ({ path }) => ({
        contents: `export default ${JSON.stringify(path)};`,
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

/** Pins `import.meta` paths to the sources, and those of threads to the bundle. */
function pinPaths(path: string, text: string, home: string): string {
  const threads = threadEntries.map((entry) => basename(entry, '.ts')).join('|');
  return text
    .replaceAll(
      new RegExp(`new URL\\('\\./(${threads})\\.ts', import\\.meta\\.url\\)`, 'g'),
      (_, name) => `new URL(${JSON.stringify(pathToFileURL(join(home, `${name}.js`)).href)})`,
    )
    .replaceAll(/import\.meta\.dir\b/g, () => JSON.stringify(dirname(path)))
    .replaceAll(/import\.meta\.url\b/g, () => JSON.stringify(pathToFileURL(path).href));
}
