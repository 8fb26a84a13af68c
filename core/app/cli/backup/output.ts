// Output of backup commands for people and scripts, without the key that the backup may contain.
import { statSync } from 'node:fs';
import type { Backup } from '../../../platform/backup/make.ts';
import type { Manifest } from '../../../platform/backup/manifest.ts';
import { counted } from '../../../platform/lib/text/words.ts';

export const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export const percent = (done: number, of: number): string =>
  `${Math.min(100, Math.floor((done / Math.max(1, of)) * 100))} %`;

export function toManifestOutput(manifest: Manifest) {
  const { unpackedBytes: _, workspaces, log, ...rest } = manifest;
  return {
    ...rest,
    position: log.position,
    workspaces: workspaces.length,
    events: workspaces.reduce((sum, { events }) => sum + events, 0),
  };
}

export function toBackupOutput({ path, manifest }: Backup) {
  return { path, bytes: statSync(path).size, ...toManifestOutput(manifest) };
}

export function backupLines(shown: ReturnType<typeof toBackupOutput>): string[] {
  return [
    `backup    ${shown.path}`,
    `contains  ${counted(shown.workspaces, 'workspace')}, ${counted(shown.events, 'event')}, up to commit ${shown.position}`,
    `size      ${inMegabytes(shown.bytes)} (${inMegabytes(shown.database.bytes)} as a database)`,
    shown.withKey
      ? 'key       IN the backup: keep the file as secret as the key'
      : 'key       not in the backup: store master.key separately; without it no stored secret can be read',
  ];
}
