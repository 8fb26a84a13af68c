// Turns a plugin's folder into its package: one bundle, the static manifest, the hash, and the source map that leads from the bundle
// back to the author's lines.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { bundlePlugin, type SdkFiles } from './bundle.ts';
import { packageBytesMax, packageFormat, PackageError, parsePackage, sha256Hex } from './manifest.ts';
import type { PackageSourceMap, PluginPackage } from './manifest.ts';

export interface PackOptions {
  /** Evaluates the bundle somewhere safe and returns its definition without functions (`describePlugin` of the sandbox). */
  describe(code: string, sourceMap: PackageSourceMap | null): Promise<unknown>;
  /** Where no sources lie beside this file: those of `plugin/index.ts` and what it imports, path below the SDK's folder → text. */
  sdk?: SdkFiles | null;
  /** The module of the definition in the folder; `plugin.ts` unless given. */
  entry?: string;
}

/** @throws PackageError with what to change */
export async function packPlugin(dir: string, options: PackOptions): Promise<PluginPackage> {
  const entrypoint = join(dir, options.entry ?? 'plugin.ts');
  if (statSync(entrypoint, { throwIfNoEntry: false })?.isFile() !== true)
    throw new PackageError('', `${entrypoint} does not exist; a plugin's folder has a plugin.ts.`);
  const { code, sourceMap } = await bundlePlugin(entrypoint, options.sdk);
  const manifest = await options.describe(code, sourceMap);
  const document = { format: packageFormat, manifest, code, sha256: await sha256Hex(code) };
  return parsePackage(textOf(document, sourceMap));
}

/** With the source map where there is room for it. */
function textOf(document: object, sourceMap: PackageSourceMap | null): string {
  const whole = JSON.stringify({ ...document, ...(sourceMap ? { sourceMap } : {}) });
  return Buffer.byteLength(whole) <= packageBytesMax ? whole : JSON.stringify(document);
}
