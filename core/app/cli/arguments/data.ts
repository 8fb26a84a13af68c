// Arguments of `tatami backup`, `backups`, `restore`, `release`, `copies`, `import`, `export` and `master-key`.
import type { Command } from 'commander';
import type { BackupOptions } from '../backup/backup.ts';
import type { PruneCommandOptions, VerifyOptions } from '../backup/backups.ts';
import type { CopiesOptions } from '../backup/copies.ts';
import type { RestoreCommandOptions } from '../backup/restore.ts';
import type { ExportOptions } from '../export.ts';
import type { AnyImportOptions } from '../import/import.ts';
import type { LocalOptions } from '../lib/local.ts';
import { dataDir, json, remote } from './options.ts';

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
      (await import('../backup/backup.ts')).backup(target, options, folder),
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
      (await import('../backup/restore.ts')).restore(file, options, folder),
    );
  program
    .command('release')
    .description('resume webhooks, plugins and schedules of a restored directory')
    .option(...dataDir)
    .option(...json)
    .action(async (options: LocalOptions) => (await import('../backup/restore.ts')).release(options, folder));
}

function addFolder(program: Command, folder: string): void {
  const backups = program.command('backups').description('list, verify and prune a directory of backups');
  const load = () => import('../backup/backups.ts');
  backups
    .command('list <dir>')
    .description('list the backups, newest first')
    .option(...json)
    .action(async (dir: string, options: { json?: boolean }) =>
      (await load()).showBackups(dir, options, folder),
    );
  backups
    .command('verify <path>')
    .description('check every byte of a backup, or of all backups in a directory')
    .option('--deep', 'also unpack each backup and check its database')
    .option(...json)
    .action(async (path: string, options: VerifyOptions) =>
      (await load()).verifyBackups(path, options, folder),
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
      (await load()).pruneFolder(dir, options, folder),
    );
}

export function addCopies(program: Command, folder: string): void {
  const copies = program.command('copies').description('inspect a continuous copy');
  const load = () => import('../backup/copies.ts');
  copies
    .command('list <copy>')
    .description('list the times that a copy can restore (a directory, or s3://bucket/prefix)')
    .option(...json)
    .action(async (where: string, options: CopiesOptions) =>
      (await load()).listCopies(where, options, folder),
    );
  copies
    .command('verify <copy>')
    .description('read a whole copy and report damage')
    .option(...json)
    .action(async (where: string, options: CopiesOptions) =>
      (await load()).verifyCopies(where, options, folder),
    );
}

export function addImport(program: Command, folder: string): void {
  remote(
    program
      .command('import <file>')
      .description('import issues from CSV, or from a GitHub, Linear or Jira export; `-` reads stdin'),
  )
    .option('--from <format>', 'csv, github, linear or jira; default: detected from the file')
    .option('--team-from <column>', 'column with the team; for GitHub, the key of the team')
    .option('--source <name>', 'externalSource of the issues; default: the format')
    .option(
      '--people <file>',
      'CSV that maps people in the file (source) to e-mail addresses of members (member)',
    )
    .option('--data-dir <dir>', 'data directory for a workspace written by `tatami export` (TATAMI_DATA_DIR)')
    .action(async (file: string, options: AnyImportOptions) =>
      (await import('../import/import.ts')).importAny(file, options, folder),
    );
  program
    .command('export <file>')
    .description('export a workspace to a file of JSON lines, for `tatami import`; `-` writes to stdout')
    .option(...dataDir)
    .option('--workspace <name>', 'name or id of the workspace, if there are several')
    .option('--force', 'replace the file if it exists')
    .option(...json)
    .action(async (file: string, options: ExportOptions) =>
      (await import('../export.ts')).exportWorkspace(file, options, folder),
    );
}

export function addMasterKey(program: Command, folder: string): void {
  program
    .command('master-key')
    .description('manage the key that encrypts stored secrets')
    .command('rotate')
    .description('encrypt all stored secrets with a new key; the server must be stopped')
    .option(...dataDir)
    .option(...json)
    .action(async (options: LocalOptions) => (await import('../operator.ts')).rotate(options, folder));
}
