// `tatami plugin pack DIR`: one package file of a plugin's folder.
import { statSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { packPlugin } from '../../../sdk/plugin/pack.ts';
import { describePlugin } from '../../sandbox/describe.ts';
import { printResult } from '../output.ts';

export async function pack(dir: string, options: { out?: string; json?: boolean }): Promise<void> {
  const document = await packPlugin(resolve(dir), { describe: describePlugin });
  const out = options.out ?? `${basename(resolve(dir))}.tatami.json`;
  writeFileSync(out, JSON.stringify(document));
  const { id, version } = document.manifest;
  const result = { file: out, id, version, sha256: document.sha256, bytes: statSync(out).size };
  printResult(
    result,
    options,
    () => `${id} ${version} → ${out}  ${result.bytes} bytes  sha256:${document.sha256.slice(0, 12)}…`,
  );
}
