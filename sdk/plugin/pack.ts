// Turns a plugin's folder into its package: one bundle, the static manifest, the hash. Macros are off and every import
// must lie in the folder or in node_modules, because a bundler left to itself would run code and read files for
// whoever wrote the plugin.
import { realpathSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, sep } from 'node:path';
import type { BunPlugin } from 'bun';
import { packageBytesMax, packageFormat, PackageError, parsePackage, sha256Hex } from './manifest.ts';
import type { PluginPackage } from './manifest.ts';

declare module 'bun' {
  interface BuildConfig {
    /** Understood by Bun, unknown to its types: false makes `with { type: 'macro' }` an error instead of running code here. */
    macros?: boolean;
  }
}

export interface PackOptions {
  /** Evaluates the bundle somewhere safe and returns its definition without functions (`describePlugin` of the sandbox). */
  describe(code: string): Promise<unknown>;
  /** Where no sources lie beside this file: those of `index.ts` and what it imports, path → text. */
  sdk?: SdkFiles | null;
}

export type SdkFiles = Readonly<Record<string, string>>;

/** Where they stand while a plugin is bundled. Nothing on a disk can lie there. */
const embeddedSdk = '/$bunfs/sdk/';
const sdkName = '@tatami/sdk/plugin';
const sourceFile = /\.(ts|js|mjs|mts|json)$/;

/** @throws PackageError with what to change */
export async function packPlugin(dir: string, options: PackOptions): Promise<PluginPackage> {
  const entrypoint = join(dir, 'plugin.ts');
  if (statSync(entrypoint, { throwIfNoEntry: false })?.isFile() !== true)
    throw new PackageError('', `${entrypoint} does not exist; a plugin's folder has a plugin.ts.`);
  const code = await bundlePlugin(entrypoint, options.sdk);
  const described = await options.describe(code);
  const document = { format: packageFormat, manifest: described, code, sha256: await sha256Hex(code) };
  return parsePackage(JSON.stringify(document));
}

/** One ES module without imports, of files in the folder of `entrypoint`. @throws PackageError */
export async function bundlePlugin(entrypoint: string, sdk?: SdkFiles | null): Promise<string> {
  const root = realpathSync(dirname(entrypoint));
  const entry = realpathSync(entrypoint);
  if (!isInside(root, entry))
    throw new PackageError(
      '',
      `${entrypoint} is a link to ${entry}, which lies outside the plugin's folder.`,
    );
  const result = await Bun.build({
    entrypoints: [entry],
    files: Object.fromEntries(Object.entries(sdk ?? {}).map(([path, text]) => [embeddedSdk + path, text])),
    target: 'browser',
    format: 'esm',
    macros: false,
    env: 'disable',
    // Also drops comments that name the author's folders, so that the same source gives the same hash anywhere.
    minify: { whitespace: true, identifiers: false, syntax: false },
    splitting: false,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [guardImports(root, entry, sdk ? embeddedSdk : join(import.meta.dir, sep))],
    throw: false,
  });
  if (!result.success)
    throw new PackageError(
      '',
      `The plugin cannot be bundled: ${result.logs.map(String).join('; ') || 'unknown reason'}`,
    );
  const [output, ...more] = result.outputs;
  if (!output || more.length > 0)
    throw new PackageError('', 'The plugin must bundle to one file; import only code and JSON.');
  const code = await output.text();
  if (Buffer.byteLength(code) > packageBytesMax)
    throw new PackageError('/code', `The bundle is larger than ${packageBytesMax} bytes.`);
  return code;
}

/** Answers the sdkName's name with this very sdkName, and refuses files outside the folder, symbolic links included. */
function guardImports(root: string, entry: string, sdkRoot: string): BunPlugin {
  return {
    name: 'guard-imports',
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, importer }) => {
        if (path === sdkName) return { path: join(sdkRoot, 'index.ts') };
        // Left to Bun, a tsconfig.json may have another file stand for it.
        if (importer === '') return { path: entry };
        if (isBuiltin(path))
          throw new PackageError('', `${importer} imports ${path}; the sandbox has no Node or Bun modules.`);
        if (importer.startsWith(sdkRoot)) return { path: join(dirname(importer), path) };
        const found = resolveFrom(path, importer);
        if (!isInside(root, found))
          throw new PackageError('', `${importer} imports ${path}, which lies outside the plugin's folder.`);
        if (!sourceFile.test(found) || !statSync(found).isFile())
          throw new PackageError('', `${importer} imports ${path}; only code and JSON can be imported.`);
        return { path: found };
      });
    },
  };
}

/** In the folder, or in the node_modules of the folder or one above it. */
function isInside(root: string, path: string): boolean {
  if (path.startsWith(root + sep)) return true;
  const at = path.indexOf(`${sep}node_modules${sep}`);
  return at >= 0 && (root + sep).startsWith(path.slice(0, at) + sep);
}

function resolveFrom(path: string, importer: string): string {
  try {
    return realpathSync(Bun.resolveSync(path, dirname(importer)));
  } catch {
    throw new PackageError('', `${importer} imports ${path}, which cannot be found.`);
  }
}
