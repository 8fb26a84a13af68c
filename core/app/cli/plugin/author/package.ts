// `tatami plugins pack DIR`, and the package argument of commands: a package file with its signature, the folder of a plugin, or the name
// of a first-party plugin.
import { resolve } from 'node:path';
import {
  type PluginPackage,
  type PluginManifest,
  PackageError,
  parsePackage,
} from '../../../../../sdk/plugin/manifest.ts';
import { packPlugin } from '../../../../../sdk/plugin/pack.ts';
import { embedded } from '../../../../platform/lib/process/embedded.ts';
import {
  describePackage,
  requireKnown,
  checkRequests,
  firstPartyNames,
  packFirstParty,
  type PackageSignature,
} from '../../../../features/plugins/offline.ts';
import { version } from '../../../version.ts';
import { printResult, say, CommandError, exitCodes } from '../../lib/output.ts';
import { requireReplaceable, writeOutputFile } from '../../lib/write-file.ts';
import { packedName } from './new.ts';
import { authorError, type Bundle } from './author-error.ts';
import { resourceRoutes } from '../../../features.ts';
import { addedFieldsOf, filterFieldsOf } from '../../../event-schemas.ts';
import { unheldNarrowing } from '../../../../kernel/rights/table.ts';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { parseJsonText } from '../../../../platform/lib/json/json-fault.ts';

/** @param folder where relative paths begin */
/** Writes one package file, checked as an installation checks it. */
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

/** Part of a request body. */
export interface PackageInput {
  readonly package: PluginPackage;
  readonly signature?: PackageSignature;
}

interface Reading {
  /** File of the signature; by default the package file with `.sig`, if it exists. */
  readonly signature?: string | undefined;
  /** Accepts the bare name of a folder. Installing does not: a mistyped name must not install what lies in the working folder. */
  readonly bareFolder?: boolean;
}

/** Path of the signature of a package file. */
export const signatureFile = (file: string): string => `${file}.sig`;

/** @param folder where relative paths begin @throws CommandError */
export async function readPackageInput(
  source: string,
  folder: string,
  { signature, bareFolder = false }: Reading = {},
): Promise<PackageInput> {
  const document = await readDocument(source, folder, bareFolder);
  const beside = resolve(folder, signatureFile(source));
  if (signature !== undefined)
    return { package: document, signature: readSignature(resolve(folder, signature)) };
  const isSigned = isPath(source) && isFile(resolve(folder, source)) && isFile(beside);
  return isSigned ? { package: document, signature: readSignature(beside) } : { package: document };
}

/** Prefers the first-party plugin for a bare name: a file or folder of that name is given as a path. */
async function readDocument(source: string, folder: string, bareFolder: boolean): Promise<PluginPackage> {
  const path = resolve(folder, source);
  const isFirstParty = firstPartyNames().includes(source);
  if (isFolder(path) && (isPath(source) || (bareFolder && !isFirstParty))) return packFolder(path);
  if (isPath(source)) return readPackageFile(source, folder);
  const namesake = existsSync(path)
    ? ` For the ${isFolder(path) ? 'folder' : 'file'} of that name, use ./${source}.`
    : '';
  if (!isFirstParty) {
    const how =
      namesake || ' For a package file or the folder of a plugin, use its path, such as ./my-plugin.';
    throw new CommandError(
      `Unknown first-party plugin ${source}. Use one of ${firstPartyNames().join(', ')}.${how}`,
    );
  }
  if (namesake !== '') say(`Using the first-party plugin ${source}.${namesake}`);
  return packFirstParty(source);
}

/** @throws CommandError that names the file */
export async function readPackageFile(file: string, folder: string): Promise<PluginPackage> {
  const path = resolve(folder, file);
  if (!isFile(path))
    throw new CommandError(`The file ${file} does not exist. Create it with \`tatami plugins pack\`.`);
  try {
    return await parsePackage(readFileSync(path, 'utf8'));
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    throw new CommandError(`${file} is not a valid package: ${error.message}`, undefined, { cause: error });
  }
}

/** @throws CommandError if the file has no signature */
export function readSignature(path: string): PackageSignature {
  if (!isFile(path))
    throw new CommandError(`The signature ${path} does not exist. Create it with \`tatami plugins sign\`.`);
  const found = signatureIn(readFileSync(path, 'utf8'));
  if (found) return found;
  throw new CommandError(`${path} is not a signature. Create one with \`tatami plugins sign\`.`);
}

/** Null for other JSON and for text that is not JSON. */
export function signatureIn(text: string): PackageSignature | null {
  try {
    const { keyId, signature } = JSON.parse(text) as Partial<PackageSignature>;
    return typeof keyId === 'string' && typeof signature === 'string' ? { keyId, signature } : null;
  } catch {
    return null;
  }
}

function isPath(source: string): boolean {
  return /[./\\]/.test(source);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Reads the file of `--settings`. @param folder where a relative path begins @throws CommandError if it cannot be read */
export function readSettings(file: string, folder: string): unknown {
  try {
    return parseJsonText(readFileSync(resolve(folder, file), 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      `Pass a readable JSON file with --settings. ${file} cannot be read: ${why}`,
      exitCodes.usage,
      {
        cause: error,
      },
    );
  }
}
