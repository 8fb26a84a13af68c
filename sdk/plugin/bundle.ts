// Bundles a plugin's files into one module without imports. Macros are off, and every import must be inside the
// folder or in node_modules, because otherwise the bundler would run code and read files on behalf of the plugin's
// author.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { BuildOutput, BunPlugin } from 'bun';
import { fitsPackage, packageBytesMax, PackageError } from './manifest.ts';
import type { PackageSourceMap } from './manifest.ts';

declare module 'bun' {
  interface BuildConfig {
    /**
     * Supported by Bun but missing in its types: false makes `with { type: 'macro' }` an error instead of running
     * code here.
     */
    macros?: boolean;
  }
}

export type SdkFiles = Readonly<Record<string, string>>;

export interface PluginBundle {
  /** One ES module without imports. */
  readonly code: string;
  /** Null if it exceeds the size limit of a package. */
  readonly sourceMap: PackageSourceMap | null;
}

/** Virtual folder of the SDK files during bundling. No file on disk can be in it. */
const embeddedSdk = '/$bunfs/sdk/';
const sdkPackage = '@tatami/sdk/';
const sdkName = `${sdkPackage}plugin`;
const sourceFile = /\.(ts|js|mjs|mts|json)$/;
const faultsMax = 10;

type SourceFaults = PackageError['locations'];

interface Roots {
  readonly plugin: string;
  readonly sdk: string;
}

/** Bundles the files in the folder of `entrypoint`. @throws PackageError */
export async function bundlePlugin(entrypoint: string, sdk?: SdkFiles | null): Promise<PluginBundle> {
  const roots = {
    plugin: realpathSync(dirname(entrypoint)),
    sdk: sdk ? embeddedSdk : join(import.meta.dir, '..', sep),
  };
  const entry = realpathSync(entrypoint);
  if (!isInside(roots.plugin, entry))
    throw new PackageError(
      '',
      `${entrypoint} is a link to ${entry}, which is outside the plugin's folder. Replace the link with the file.`,
    );
  const refused: Refusal[] = [];
  const result = await Bun.build({
    entrypoints: [entry],
    files: Object.fromEntries(Object.entries(sdk ?? {}).map(([path, text]) => [embeddedSdk + path, text])),
    target: 'browser',
    format: 'esm',
    macros: false,
    env: 'disable',
    sourcemap: 'external',
    // Removal of whitespace also removes comments that contain the author's folder names, so that the same
    // source has the same hash everywhere.
    minify: { whitespace: true, identifiers: false, syntax: false },
    splitting: false,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [guardImports(roots, entry, refused)],
    throw: false,
  });
  if (!result.success) throw notBundled(result.logs, refused, roots);
  return readOutputs(result.outputs, roots);
}

async function readOutputs(outputs: BuildOutput['outputs'], roots: Roots): Promise<PluginBundle> {
  const [map, ...maps] = outputs.filter(({ kind }) => kind === 'sourcemap');
  const [output, ...more] = outputs.filter(({ kind }) => kind !== 'sourcemap');
  if (!output || !map || maps.length + more.length > 0)
    throw new PackageError('', 'The plugin must bundle to one file; import only code and JSON.');
  // Removes the debug id of the map that Bun would have written, because it depends on the folder's name.
  const code = (await output.text()).replace(/\n\n\/\/# debugId=\w+\n$/, '\n');
  if (Buffer.byteLength(code) > packageBytesMax)
    throw new PackageError('/code', `The bundle is larger than ${packageBytesMax} bytes. Bundle less code.`);
  const { sources, mappings } = (await map.json()) as { sources: string[]; mappings: string };
  if (!fitsPackage(mappings)) return { code, sourceMap: null };
  return {
    code,
    sourceMap: { version: 3, sources: sources.map((path) => nameOf(resolve(path), roots)), mappings },
  };
}

/** Returns the name of a file relative to the plugin's folder. */
function nameOf(path: string, { plugin, sdk }: Roots): string {
  if (path.startsWith(sdk)) return sdkPackage + path.slice(sdk.length).replaceAll(sep, '/');
  const isPackage = path.lastIndexOf(`${sep}node_modules${sep}`);
  const name = isPackage >= 0 ? path.slice(isPackage + 1) : relative(plugin, path);
  return name.replaceAll(sep, '/');
}

interface Refusal {
  readonly importer: string;
  readonly path: string;
  /** Completes the sentence `plugin.ts imports ./x`. */
  readonly why: string;
}

function notBundled(logs: BuildOutput['logs'], refused: readonly Refusal[], roots: Roots): PackageError {
  const refusals = refused.map(({ importer, path, why }) => ({
    file: nameOf(importer, roots),
    ...findImport(importer, path),
    message: `${nameOf(importer, roots)} imports ${path}${why}`,
  }));
  const parseFaults: SourceFaults = logs.flatMap(({ message, position }) =>
    position && position.line > 0
      ? [{ file: nameOf(position.file, roots), line: position.line, column: position.column, message }]
      : [],
  );
  const faults = [...refusals, ...parseFaults].slice(0, faultsMax);
  const reasons =
    faults.length > 0
      ? faults.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`)
      : logs.map(String);
  return new PackageError(
    '',
    `The plugin cannot be bundled: ${reasons.join('; ') || 'the bundler gave no reason. Check the imports.'}`,
    faults,
  );
}

/** Returns the position of an import: the first place where the quoted path occurs. */
function findImport(importer: string, path: string): { line: number; column: number } {
  const lines = readFileSync(importer, 'utf8').split('\n');
  for (const [index, text] of lines.entries())
    for (const quote of [`'`, `"`, '`']) {
      const at = text.indexOf(quote + path + quote);
      if (at >= 0) return { line: index + 1, column: at + 1 };
    }
  return { line: 1, column: 1 };
}

/** Resolves the SDK's name to this SDK, and rejects files outside the folder, including through symbolic links. */
function guardImports(roots: Roots, entry: string, refused: Refusal[]): BunPlugin {
  return {
    name: 'guard-imports',
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, importer }) => {
        if (path === sdkName) return { path: join(roots.sdk, 'plugin/index.ts') };
        // Otherwise a tsconfig.json could map the entry to another file.
        if (importer === '') return { path: entry };
        const refuse = (why: string): never => {
          refused.push({ importer, path, why });
          throw new PackageError('', path + why);
        };
        if (isBuiltin(path)) return refuse('; the sandbox has no Node or Bun modules. Remove the import.');
        if (importer.startsWith(roots.sdk)) return { path: join(dirname(importer), path) };
        const resolved = resolveFrom(path, importer);
        if (resolved === null)
          return refuse(', which cannot be found. Correct the path, or install the package.');
        if (!isInside(roots.plugin, resolved))
          return refuse(", which is outside the plugin's folder. Move the file into it.");
        if (!sourceFile.test(resolved) || !statSync(resolved).isFile())
          return refuse('; only code and JSON can be imported.');
        return { path: resolved };
      });
    },
  };
}

/** Returns true for paths in the folder, or in the node_modules of the folder or of a parent, which may be links. */
function isInside(root: string, path: string): boolean {
  if (path.startsWith(root + sep)) return true;
  for (let folder = root; ; folder = dirname(folder)) {
    const packages = join(folder, 'node_modules');
    if (existsSync(packages) && path.startsWith(realpathSync(packages) + sep)) return true;
    if (folder === dirname(folder)) return false;
  }
}

function resolveFrom(path: string, importer: string): string | null {
  try {
    return realpathSync(Bun.resolveSync(path, dirname(importer)));
  } catch {
    return null;
  }
}
