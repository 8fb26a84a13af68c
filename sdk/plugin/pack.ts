// Builds a plugin package from its folder: one bundle, the static manifest, the hash, and the source map from the
// bundle to the author's lines.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { bundlePlugin, type SdkFiles } from './bundle.ts';
import { packageBytesMax, packageFormat, PackageError, parsePackage, sha256Hex } from './manifest.ts';
import type { PackageSourceMap, PluginPackage } from './manifest.ts';

export interface PackOptions {
  /**
   * Evaluates the bundle in a safe environment and returns its definition without functions (`describePlugin` of the
   * sandbox).
   */
  describe(code: string, sourceMap: PackageSourceMap | null): Promise<unknown>;
  /**
   * SDK sources by path below the SDK's folder, if they are not next to this file: `plugin/index.ts` and its imports.
   */
  sdk?: SdkFiles | null;
  /** Module in the folder that exports the definition; default `plugin.ts`. */
  entry?: string;
}

/** @throws PackageError that says what to change */
export async function packPlugin(dir: string, options: PackOptions): Promise<PluginPackage> {
  const entrypoint = join(dir, options.entry ?? 'plugin.ts');
  if (statSync(entrypoint, { throwIfNoEntry: false })?.isFile() !== true)
    throw new PackageError(
      '',
      `${entrypoint} does not exist. Create it, or pass a folder that has a plugin.ts.`,
    );
  const { code, sourceMap } = await bundlePlugin(entrypoint, options.sdk);
  const manifest = await options.describe(code, sourceMap);
  const document = { format: packageFormat, manifest, code, sha256: await sha256Hex(code) };
  return parsePackage(textOf(document, sourceMap));
}

/** Includes the source map if the package stays within its size limit. */
function textOf(document: object, sourceMap: PackageSourceMap | null): string {
  const whole = JSON.stringify({ ...document, ...(sourceMap ? { sourceMap } : {}) });
  return Buffer.byteLength(whole) <= packageBytesMax ? whole : JSON.stringify(document);
}
