// `tatami backups list|verify|prune`: the backups of a directory.
import { resolve } from 'node:path';
import { listBackups, findProblem, pruneBackups } from '../../../platform/backup/folder.ts';
import { printResult, CommandError, createProgress, exitCodes } from '../lib/output.ts';
import { inMegabytes, toManifestOutput, percent } from './backup.ts';
import { statSync } from 'node:fs';
import { findDeepProblem } from '../../../platform/backup/make.ts';
import { usage, wholeNumber } from '../lib/flags.ts';

/** Reads only the manifests; `verify` reads whole files. */
export async function showBackups(dir: string, options: { json?: boolean }, folder: string): Promise<void> {
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

export interface VerifyOptions {
  deep?: boolean;
  json?: boolean;
}

/** Exits with 1 if a backup cannot be restored. */
export async function verifyBackups(path: string, options: VerifyOptions, folder: string): Promise<void> {
  const named = resolve(folder, path);
  const paths = statSync(named).isDirectory() ? (await listBackups(named)).map((one) => one.path) : [named];
  if (paths.length === 0)
    throw new CommandError(`${named} has no backups. Create one with \`tatami backup\`.`);
  const progress = createProgress();
  const backups: { path: string; problem: string | null }[] = [];
  for (const one of paths) {
    const onBytes = (bytes: number, totalBytes: number): void =>
      progress.show(`${one} ${percent(bytes, totalBytes)}`);
    const problem = options.deep ? await findDeepProblem(one, onBytes) : await findProblem(one, onBytes);
    backups.push({ path: one, problem });
  }
  progress.end();
  printResult({ backups }, options, (shown) =>
    shown.backups
      .map(
        (one) =>
          `${one.problem === null ? 'valid    ' : 'DAMAGED  '}${one.path}${one.problem === null ? '' : `: ${one.problem}`}`,
      )
      .join('\n'),
  );
  if (backups.some(({ problem }) => problem !== null)) process.exitCode = exitCodes.failed;
}

export interface PruneCommandOptions {
  keepLast?: string;
  keepDaily?: string;
  keepWeekly?: string;
  keepMonthly?: string;
  json?: boolean;
}

export async function pruneFolder(dir: string, options: PruneCommandOptions, folder: string): Promise<void> {
  const count = (flag: string, text: string | undefined): number =>
    text === undefined ? 0 : wholeNumber(flag, text, 0, 9_999);
  const keep = {
    last: count('--keep-last', options.keepLast),
    daily: count('--keep-daily', options.keepDaily),
    weekly: count('--keep-weekly', options.keepWeekly),
    monthly: count('--keep-monthly', options.keepMonthly),
  };
  if (Object.values(keep).every((number) => number === 0))
    throw usage('Specify which backups to keep, such as --keep-daily 7 --keep-weekly 4.');
  const pruned = await pruneBackups(resolve(folder, dir), keep);
  printResult(
    pruned,
    options,
    ({ kept, deleted, damaged }) =>
      [
        ...kept.map((path) => `kept      ${path}`),
        ...deleted.map((path) => `deleted   ${path}`),
        ...damaged.map((path) => `DAMAGED   ${path}`),
      ].join('\n') || 'No backups found. Create one with `tatami backup`.',
  );
}
