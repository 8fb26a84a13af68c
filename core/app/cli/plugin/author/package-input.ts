// The package argument of a command: a package file with the signature beside it, the folder of a plugin, or the name of a first-party
// plugin.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { PackageError, parsePackage, type PluginPackage } from '../../../../../sdk/plugin/manifest.ts';
import {
  firstPartyNames,
  packFirstParty,
  type PackageSignature,
} from '../../../../features/plugins/offline.ts';
import { CommandError, say } from '../../lib/output.ts';
import { packFolder } from './pack.ts';

/** As bodies of requests have it. */
export interface PackageInput {
  readonly package: PluginPackage;
  readonly signature?: PackageSignature;
}

interface Reading {
  /** File of the signature; by default the package file with `.sig`, where it exists. */
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
    throw new CommandError(`The file ${file} does not exist. Create it with \`tatami plugin pack\`.`);
  try {
    return await parsePackage(readFileSync(path, 'utf8'));
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    throw new CommandError(`${file} is not a valid package: ${error.message}`, undefined, { cause: error });
  }
}

/** @throws CommandError where the file holds none */
export function readSignature(path: string): PackageSignature {
  if (!isFile(path))
    throw new CommandError(`The signature ${path} does not exist. Create it with \`tatami plugin sign\`.`);
  const found = signatureIn(readFileSync(path, 'utf8'));
  if (found) return found;
  throw new CommandError(`${path} is not a signature. Create one with \`tatami plugin sign\`.`);
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
