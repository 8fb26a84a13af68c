// `tatami backup`, `backups`, `restore` and `release`: their flags. What each does is a file beside this one.
import type { Command } from 'commander';
import type { BackupOptions } from './backup.ts';
import type { PruneCommandOptions } from './prune.ts';
import type { ReleaseOptions } from './release.ts';
import type { RestoreCommandOptions } from './restore.ts';
import type { VerifyOptions } from './verify.ts';

const json: [string, string] = ['--json', 'print one JSON value on stdout'];
const dataDir: [string, string] = ['--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)'];

/** @param folder where relative paths begin */
export function addBackups(program: Command, folder: string): void {
  program
    .command('backup <dir>')
    .description('create a full backup in a directory, or on stdout with `-`; works while the server runs')
    .option(...dataDir)
    .option('--with-key', 'include the master key in the backup')
    .option(
      '--keep <rule>',
      'then delete older backups by this rule, such as last=3,daily=7,weekly=4,monthly=6',
    )
    .option('--background', 'run with low CPU priority')
    .option(...json)
    .action(async (target: string, options: BackupOptions) =>
      (await import('./backup.ts')).backup(target, options, folder),
    );
  addFolder(program, folder);
  program
    .command('restore <file>')
    .description('create a data directory from a backup, and verify it')
    .requiredOption('--data-dir <dir>', 'the new data directory, which must be missing or empty')
    .option(
      '--to <time>',
      'with a continuous copy, the time to restore: 2026-11-20T12:00:00Z, or an age such as 2h',
    )
    .option('--key <file>', 'file of the master key, if the backup does not include it')
    .option(...json)
    .action(async (file: string, options: RestoreCommandOptions) =>
      (await import('./restore.ts')).restore(file, options, folder),
    );
  program
    .command('release')
    .description('resume webhooks, plugins and schedules of a restored directory')
    .option(...dataDir)
    .option(...json)
    .action(async (options: ReleaseOptions) => (await import('./release.ts')).release(options, folder));
}

function addFolder(program: Command, folder: string): void {
  const backups = program.command('backups').description('list, verify and prune a directory of backups');
  backups
    .command('list <dir>')
    .description('list the backups, newest first')
    .option(...json)
    .action(async (dir: string, options: { json?: boolean }) =>
      (await import('./list.ts')).list(dir, options, folder),
    );
  backups
    .command('verify <path>')
    .description('check every byte of a backup, or of all backups in a directory')
    .option('--deep', 'also unpack each backup and check its database')
    .option(...json)
    .action(async (path: string, options: VerifyOptions) =>
      (await import('./verify.ts')).verify(path, options, folder),
    );
  backups
    .command('prune <dir>')
    .description('delete the backups that no rule keeps; the last valid one always stays')
    .option('--keep-last <n>', 'keep the newest n')
    .option('--keep-daily <n>', 'keep the newest of each of the last n days that have one')
    .option('--keep-weekly <n>', 'keep the newest of each of the last n weeks that have one')
    .option('--keep-monthly <n>', 'keep the newest of each of the last n months that have one')
    .option(...json)
    .action(async (dir: string, options: PruneCommandOptions) =>
      (await import('./prune.ts')).prune(dir, options, folder),
    );
}
