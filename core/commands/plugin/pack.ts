// `tatami plugin pack DIR`: one package file of a plugin's folder.
import { basename, resolve } from 'node:path';
import { packPlugin } from '../../../sdk/plugin/pack.ts';
import { embedded } from '../../lib/embedded.ts';
import { describePlugin } from '../../sandbox/describe.ts';
import { printResult } from '../output.ts';
import { writeNamedFile } from '../write-file.ts';

/** @param folder where relative paths begin */
export async function pack(
  dir: string,
  options: { out?: string; json?: boolean },
  folder: string,
): Promise<void> {
  const root = resolve(folder, dir);
  const document = await packPlugin(root, { describe: describePlugin, sdk: embedded?.sdkFiles() ?? null });
  const out = options.out ?? `${basename(root)}.tatami.json`;
  const text = JSON.stringify(document);
  writeNamedFile(resolve(folder, out), text);
  const { id, version } = document.manifest;
  const result = { file: out, id, version, sha256: document.sha256, bytes: Buffer.byteLength(text) };
  printResult(
    result,
    options,
    (shown) =>
      `${shown.id} ${shown.version} → ${shown.file}  ${shown.bytes} bytes  sha256:${shown.sha256.slice(0, 12)}…`,
  );
}
