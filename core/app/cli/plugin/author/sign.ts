// `tatami plugins keygen|sign|verify`: signatures of package files, without a server.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PluginPackage } from '../../../../../sdk/plugin/manifest.ts';
import {
  isPublicKey,
  isSignedBy,
  keyIdOf,
  newKey,
  signPackage,
  type PackageSignature,
} from '../../../../features/plugins/offline.ts';
import { CommandError, exitCodes, printResult } from '../../lib/output.ts';
import { requireReplaceable, writeOutputFile } from '../../lib/write-file.ts';
import { readPackageFile, readSignature, signatureFile, signatureIn } from './package.ts';

/** @param folder where relative paths begin */
export function keygen(file: string, options: { json?: boolean }, folder: string): void {
  const path = resolve(folder, file);
  if (existsSync(path))
    throw new CommandError(`${file} already exists and is not overwritten. Choose another file.`);
  const { privateKey, publicKey, keyId } = newKey();
  writeFileSync(path, privateKey, { mode: 0o600, flag: 'wx' });
  printResult(
    { file, publicKey, keyId },
    options,
    (shown) =>
      `${shown.file} is the private key: keep it secret.\nkey id      ${shown.keyId}\npublic key  ${shown.publicKey}\nOperators trust it with TATAMI_PLUGIN_TRUST=<your name>=${shown.publicKey}`,
  );
}

export async function signFile(
  file: string,
  options: { key: string; force?: boolean; json?: boolean },
  folder: string,
): Promise<void> {
  const document = await readPackageFile(file, folder);
  const made = signatureBy(document, options.key, folder);
  const out = signatureFile(file);
  const path = resolve(folder, out);
  requireReplaceable(path, options.force, (earlier) => signatureIn(earlier) !== null);
  writeOutputFile(path, `${JSON.stringify(made)}\n`);
  printResult({ file: out, ...made }, options, (shown) => `${shown.file}  signed by the key ${shown.keyId}`);
}

export async function verifyFile(
  file: string,
  options: { publicKey: string; json?: boolean },
  folder: string,
): Promise<void> {
  const { publicKey } = options;
  if (!isPublicKey(publicKey))
    throw new CommandError(
      '--public-key must be a key of 44 characters, as printed by `tatami plugins keygen`.',
      exitCodes.usage,
    );
  const document = await readPackageFile(file, folder);
  const signature = readSignature(resolve(folder, signatureFile(file)));
  if (!isSignedBy(document, signature, publicKey))
    throw new CommandError(
      signature.keyId === keyIdOf(publicKey)
        ? `${file} was changed after it was signed, or the signature is of another package. Sign the package again.`
        : `${file} is signed by the key ${signature.keyId}, not by ${keyIdOf(publicKey)}. Use the public key of its publisher.`,
    );
  const { id, version } = document.manifest;
  printResult(
    { id, version, sha256: document.sha256, keyId: signature.keyId },
    options,
    (shown) => `${shown.id} ${shown.version} is signed by the key ${shown.keyId}`,
  );
}

function signatureBy(document: PluginPackage, key: string, folder: string): PackageSignature {
  try {
    return signPackage(document, readFileSync(resolve(folder, key), 'utf8'));
  } catch (error) {
    throw new CommandError(
      `${key} is not a key created by \`tatami plugins keygen\`. Create one with this command.`,
      undefined,
      {
        cause: error,
      },
    );
  }
}
