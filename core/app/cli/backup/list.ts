// `tatami backups list DIR`: lists backups by their manifests; `verify` reads the whole files.
import { resolve } from 'node:path';
import { listBackups } from '../../../platform/backup/folder.ts';
import { printResult } from '../lib/output.ts';
import { inMegabytes, toManifestOutput } from './output.ts';

export async function list(dir: string, options: { json?: boolean }, folder: string): Promise<void> {
  const listed = await listBackups(resolve(folder, dir));
  const backups = listed.map(({ path, bytes, manifest, problem }) =>
    manifest ? { path, bytes, problem, ...toManifestOutput(manifest) } : { path, bytes, problem },
  );
  printResult(
    { backups },
    options,
    (shown) =>
      shown.backups
        .map((backup) => {
          const size = inMegabytes(backup.bytes).padStart(10);
          if (!('events' in backup)) return `${backup.path} ${size}  DAMAGED: ${backup.problem}`;
          return `${backup.path} ${size}  ${backup.events} events, commit ${backup.position}${backup.withKey ? ', with the key' : ''}`;
        })
        .join('\n') || 'No backups found. Create one with `tatami backup`.',
  );
}
