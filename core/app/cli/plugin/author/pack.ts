// `tatami plugin pack DIR`: one package file of a plugin's folder, checked as installing it will be.
import { resolve } from 'node:path';
import type { PluginPackage, PluginManifest } from '../../../../../sdk/plugin/manifest.ts';
import { packPlugin } from '../../../../../sdk/plugin/pack.ts';
import { embedded } from '../../../../platform/lib/process/own-program.ts';
import { describePackage, requireKnown, checkRequests } from '../../../../features/plugins/offline.ts';
import { version } from '../../../version.ts';
import { printResult, say } from '../../lib/output.ts';
import { requireReplaceable, writeOutputFile } from '../../lib/write-file.ts';
import { packedName } from './packed-name.ts';
import { authorError } from './author-error.ts';
import type { Bundle } from './manifest-location.ts';
import { resourceRoutes } from '../../../features.ts';
import { addedFieldsOf, filterFieldsOf } from '../../../event-schemas.ts';
import { unheldNarrowing } from '../../../../kernel/rights/table.ts';

/** @param folder where relative paths begin */
export async function pack(
  dir: string,
  options: { out?: string; force?: boolean; json?: boolean },
  folder: string,
): Promise<void> {
  const root = resolve(folder, dir);
  const document = await packFolder(root);
  const { manifest } = document;
  const out = options.out ?? packedName(manifest.id);
  const text = JSON.stringify(document);
  const path = resolve(folder, out);
  requireReplaceable(path, options.force, (earlier) => isPackageOf(earlier, manifest.id));
  writeOutputFile(path, text);
  sayWhereItRuns(manifest.engines.tatami);
  const result = {
    file: out,
    id: manifest.id,
    version: manifest.version,
    sha256: document.sha256,
    bytes: Buffer.byteLength(text),
  };
  printResult(
    result,
    options,
    (shown) =>
      `${shown.id} ${shown.version} → ${shown.file}  ${shown.bytes} bytes  sha256:${shown.sha256.slice(0, 12)}…`,
  );
}

function isPackageOf(text: string, id: string): boolean {
  try {
    const { format, manifest } = JSON.parse(text) as { format?: unknown; manifest?: { id?: unknown } };
    return format !== undefined && manifest?.id === id;
  } catch {
    return false;
  }
}

/**
 * Checks a manifest as an installation does, except for names that only a workspace knows.
 * @throws ApiError validation_failed, as the server would answer
 */
function checkOffline(manifest: PluginManifest): void {
  checkRequests(manifest, {
    filterFields: filterFieldsOf,
    addedFields: addedFieldsOf,
    unheldNarrowing: (requests) => unheldNarrowing(resourceRoutes, knownHere(requests)),
  });
}

/** Routes of webhooks and plugins are made by a running server, which looks at their scopes. */
function knownHere<R>(requests: Readonly<Record<string, R>>): Record<string, R> {
  const scopes = new Set(resourceRoutes.map(({ scope }) => scope));
  return Object.fromEntries(Object.entries(requests).filter(([scope]) => scopes.has(scope)));
}

/** @throws CommandError that names the author's line, where that is known */
export async function packFolder(root: string): Promise<PluginPackage> {
  let bundle: Bundle | undefined;
  try {
    const document = await packPlugin(root, {
      async describe(code, sourceMap) {
        bundle = { code, sourceMap };
        const manifest = await describePackage(code, sourceMap);
        requireKnown({ manifest });
        return manifest;
      },
      sdk: embedded?.sdkFiles() ?? null,
    });
    checkOffline(document.manifest);
    return document;
  } catch (error) {
    throw authorError(error, root, bundle);
  }
}

/** The server it is for may be another one than this. */
function sayWhereItRuns(range: string): void {
  if (range !== '*' && !Bun.semver.satisfies(version, range))
    say(
      `The plugin requires Tatami ${JSON.stringify(range)}. This version, ${version}, would not install it.`,
    );
}
