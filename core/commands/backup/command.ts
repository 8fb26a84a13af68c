// `tatami backup`, `backups`, `restore` and `release`: their flags. What each does is a file beside this one.
import type { Command } from 'commander';
import type { BackupOptions } from './backup.ts';
import type { PruneOptions } from './prune.ts';
import type { ReleaseOptions } from './release.ts';
import type { RestoreOptions } from './restore.ts';
import type { VerifyOptions } from './verify.ts';

const json: [string, string] = ['--json', 'print one JSON value on stdout'];
const dataDir: [string, string] = ['--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)'];

/** @param folder where relative paths begin */
export function addBackups(program: Command, folder: string): void {
  program
    .command('backup <dir>')
    .description('make a full backup in a directory, or on stdout with `-`; the server may go on meanwhile')
    .option(...dataDir)
    .option('--with-key', 'put the master key into the backup')
    .option('--keep <rule>', 'afterwards delete older ones, such as last=3,daily=7,weekly=4,monthly=6')
    .option('--background', 'leave processor time to others')
    .option(...json)
    .action(async (target: string, options: BackupOptions) =>
      (await import('./backup.ts')).backup(target, options, folder),
    );
  addFolder(program, folder);
  program
    .command('restore <file>')
    .description('make a data directory of a backup; it is verified before it counts')
    .requiredOption('--data-dir <dir>', 'the new data directory, which must be missing or empty')
    .option('--to <time>', 'a moment, where a continuous copy reaches it: 2026-11-20T12:00:00Z, 2h')
    .option('--key <file>', 'the master key, where the backup does not have it')
    .option(...json)
    .action(async (file: string, options: RestoreOptions) =>
      (await import('./restore.ts')).restore(file, options, folder),
    );
  program
    .command('release')
    .description('let webhooks, plugins and schedules of a restored directory run')
    .option(...dataDir)
    .option(...json)
    .action(async (options: ReleaseOptions) => (await import('./release.ts')).release(options, folder));
}

function addFolder(program: Command, folder: string): void {
  const backups = program.command('backups').description('list, verify and prune a directory of backups');
  backups
    .command('list <dir>')
    .description('list them, the newest first')
    .option(...json)
    .action(async (dir: string, options: { json?: boolean }) =>
      (await import('./list.ts')).list(dir, options, folder),
    );
  backups
    .command('verify <path>')
    .description('read one backup, or all of a directory, and check every byte')
    .option('--deep', 'unpack each and check the database in it')
    .option(...json)
    .action(async (path: string, options: VerifyOptions) =>
      (await import('./verify.ts')).verify(path, options, folder),
    );
  backups
    .command('prune <dir>')
    .description('delete all but those that the rules keep; the last good one always stays')
    .option('--keep-last <n>', 'the newest')
    .option('--keep-daily <n>', 'the newest of each of the last days that have one')
    .option('--keep-weekly <n>', 'the newest of each of the last weeks that have one')
    .option('--keep-monthly <n>', 'the newest of each of the last months that have one')
    .option(...json)
    .action(async (dir: string, options: PruneOptions) =>
      (await import('./prune.ts')).prune(dir, options, folder),
    );
}
