// `tatami backup DIR|-`: a full backup, made by this process while a server runs or not.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeBackup, type Backup, type BackupStep } from '../../../platform/backup/make.ts';
import { pruneBackups } from '../../../platform/backup/folder.ts';
import { parseRetentionRule, type RetentionRule } from '../../../platform/backup/retention-rule.ts';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { lowerCpuPriority } from '../../../platform/lib/process/cpu.ts';
import { version } from '../../version.ts';
import { usage } from '../lib/flags.ts';
import { localConfig, type LocalOptions } from '../lib/local.ts';
import { createProgress, isTerminal, pourFile, printResult, say } from '../lib/output.ts';
import type { Manifest } from '../../../platform/backup/manifest.ts';
import { counted } from '../../../platform/lib/text/words.ts';

export interface BackupOptions extends LocalOptions {
  withKey?: boolean;
  keep?: string;
  background?: boolean;
}

const stepTexts: Readonly<Record<BackupStep, string>> = {
  copy: 'copying the database',
  check: 'checking the copy',
  compress: 'compressing',
};

/** @param folder where relative paths begin */
export async function backup(target: string, options: BackupOptions, folder: string): Promise<void> {
  const keep = keepOf(options.keep);
  if (options.background) lowerCpuPriority();
  const { dataDir } = localConfig(options, folder);
  if (options.withKey)
    say('The backup will contain the master key: anyone who has the file can read all stored secrets.');
  if (target === '-') return toStdout(dataDir, options);
  const into = resolve(folder, target);
  const made = await make(dataDir, into, options);
  const pruned = keep ? await pruneBackups(into, keep) : null;
  printResult({ ...toBackupOutput(made), ...(pruned ? { deleted: pruned.deleted } : {}) }, options, (shown) =>
    [...backupLines(shown), ...(shown.deleted ?? []).map((path) => `deleted   ${path}`)].join('\n'),
  );
}

function keepOf(text: string | undefined): RetentionRule | null {
  if (text === undefined) return null;
  const keep = parseRetentionRule(text);
  if (!keep) throw usage(`--keep must be a rule such as last=3,daily=7,weekly=4,monthly=6, not "${text}".`);
  return keep;
}

async function make(dataDir: string, folder: string, { withKey = false }: BackupOptions): Promise<Backup> {
  const progress = createProgress();
  try {
    return await makeBackup({
      dataDir,
      folder,
      withKey,
      version,
      nowMs: systemClock.nowMs,
      onStep(step, doneBytes, totalBytes) {
        const done = step === 'compress' ? ` ${percent(doneBytes, totalBytes)}` : '';
        progress.show(`${stepTexts[step]} (${inMegabytes(totalBytes)})${done}`);
      },
    });
  } finally {
    progress.end();
  }
}

/** The database and its archive files are checked before anything is written to stdout. */
async function toStdout(dataDir: string, options: BackupOptions): Promise<void> {
  if (options.json || options.keep !== undefined)
    throw usage('`-` writes the backup to stdout, so --json and --keep need a directory.');
  if (isTerminal())
    throw usage('A backup is binary. Redirect it to a file or a program, such as `tatami backup - > FILE`.');
  const folder = mkdtempSync(join(tmpdir(), 'tatami-backup-'));
  const clean = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', clean);
  try {
    const made = await make(dataDir, folder, options);
    await pourFile(made.path);
    say(backupLines({ ...toBackupOutput(made), path: 'stdout' }).join('\n'));
  } finally {
    clean();
  }
}

export const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export const percent = (done: number, of: number): string =>
  `${Math.min(100, Math.floor((done / Math.max(1, of)) * 100))} %`;

/** Returns the manifest for people and scripts. */
export function toManifestOutput(manifest: Manifest) {
  const { unpackedBytes: _, workspaces, log, ...rest } = manifest;
  return {
    ...rest,
    position: log.position,
    workspaces: workspaces.length,
    events: workspaces.reduce((sum, { events }) => sum + events, 0),
  };
}

function toBackupOutput({ path, manifest }: Backup) {
  return { path, bytes: statSync(path).size, ...toManifestOutput(manifest) };
}

function backupLines(shown: ReturnType<typeof toBackupOutput>): string[] {
  return [
    `backup    ${shown.path}`,
    `contains  ${counted(shown.workspaces, 'workspace')}, ${counted(shown.events, 'event')}, up to commit ${shown.position}`,
    `size      ${inMegabytes(shown.bytes)} (${inMegabytes(shown.database.bytes)} as a database)`,
    shown.withKey
      ? 'key       IN the backup: keep the file as secret as the key'
      : 'key       not in the backup: store master.key separately; without it no stored secret can be read',
  ];
}
