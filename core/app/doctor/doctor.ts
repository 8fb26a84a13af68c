// Runs all checks of `tatami doctor` in sequence.
import { systemSentence } from '../../platform/lib/errors/failures.ts';
import { type Check, type Finding, damage, error, some, warning, note } from './check.ts';
import { disk } from './checks/disk.ts';
import { endpoints } from './checks/rows/endpoints.ts';
import { key } from './checks/rows/key.ts';
import { log } from './checks/log.ts';
import { orphans } from './checks/rows/orphans.ts';
import { pages } from './checks/pages.ts';
import { permissions } from './checks/permissions.ts';
import { replay } from './checks/rows/replay.ts';
import { schema } from './checks/schema.ts';
import { search } from './checks/rows/search.ts';
import { structure } from './checks/structure.ts';
import { texts } from './checks/rows/texts.ts';
import { work } from './checks/rows/work.ts';
import type { Subject } from './subject.ts';
import { join, dirname } from 'node:path';
import { recognise } from '../../platform/store/integrity/recognise.ts';
import { isDatabase } from './mend.ts';
import { createArchive } from '../../platform/store/files/archive.ts';
import { statSync, existsSync, readFileSync, createReadStream } from 'node:fs';
import { listBackups } from '../../platform/backup/folder.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import { systemClock } from '../../platform/lib/time/clock.ts';
import { findNode } from '../../platform/sandbox/locate.ts';
import { startSandbox } from '../../platform/sandbox/supervisor.ts';
import { createHash } from 'node:crypto';
import { blobPath, blobsIn, digestIn } from '../../platform/store/files/blobs.ts';

/**
 * Checks of the database file. If one of them finds that the file cannot be read, later checks that read it
 * are skipped.
 */
const ofTheFile: readonly Check[] = [pages, structure, schema, texts];

const identity: Check = {
  name: 'identity',
  holds: 'the directory is the original or a complete copy',
  look({ dir, path, servedBy }) {
    if (servedBy !== null) return [];
    try {
      recognise({ path: dir, identity: join(dir, 'identity'), ...path });
      return [];
    } catch (thrown) {
      // An unreadable file is not an identity problem, and `accept` would not make it readable.
      if (thrown instanceof Error && 'syscall' in thrown) throw thrown;
      return [
        error(
          thrown instanceof Error ? thrown.message : String(thrown),
          isDatabase(path.database) ? 'accept' : undefined,
        ),
      ];
    }
  },
};

interface FileRow {
  readonly workspace_id: string;
  readonly first_sequence: number;
  readonly last_sequence: number;
  readonly sha256: string;
}

export const files: Check = {
  name: 'files',
  holds: 'the contents of all attachments exist and are undamaged',
  readsDatabase: true,
  async look({ dir, rows }) {
    const folder = join(dir, 'blobs');
    const referenced = rows<{ sha256: string; id: string }>(
      'SELECT sha256, min(id) AS id FROM attachments WHERE deleted_at IS NULL AND sha256 IS NOT NULL GROUP BY sha256',
    );
    const bad: string[] = [];
    for (const { sha256, id } of referenced) {
      const digest = digestIn(sha256);
      if (!digest || (await sumOf(blobPath(folder, digest))) !== sha256) bad.push(`${id} (${sha256})`);
    }
    const known = new Set<string>(referenced.map(({ sha256 }) => sha256));
    const unneeded = blobsIn(folder).filter((name) => !known.has(name)).length;
    return [
      ...(bad.length > 0
        ? [
            error(
              `The contents of attachments are missing or damaged: ${some(bad)}. Restore them into ${folder} from a backup, or delete the attachments.`,
            ),
          ]
        : []),
      ...(unneeded > 0
        ? [note(`${unneeded} files belong to no attachment. A running server removes them within hours.`)]
        : []),
    ];
  },
};

/** Returns null if there is no regular file; reading a named pipe would never end. */
async function sumOf(path: string): Promise<string | null> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return null;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

const archive: Check = {
  name: 'archive',
  holds: 'all archived event files exist and are undamaged',
  readsDatabase: true,
  async look({ path, rows }) {
    const files = rows<FileRow>(
      'SELECT workspace_id, first_sequence, last_sequence, sha256 FROM event_files',
    );
    const archive = createArchive(join(dirname(path.database), 'archive'), () => undefined);
    const bad: string[] = [];
    for (const { workspace_id: workspaceId, first_sequence: first, last_sequence: last, sha256 } of files)
      try {
        await archive.read(workspaceId, { first, last, sha256 });
      } catch (thrown) {
        bad.push(thrown instanceof Error ? thrown.message : String(thrown));
      }
    return bad.length > 0
      ? [error(`${bad.length} of ${files.length} archived event files are damaged: ${some(bad, 3)}`)]
      : [];
  },
};

const tolerancesMs = 120_000;

const clock: Check = {
  name: 'clock',
  holds: 'the clock is not behind the newest event',
  readsDatabase: true,
  look({ rows, path, nowMs }) {
    const findings: Finding[] = [];
    const [newest] = rows<{ at: number | null }>('SELECT max(created_at) AS at FROM events');
    const aheadMs = (newest?.at ?? 0) - nowMs;
    if (aheadMs > tolerancesMs)
      findings.push(
        error(
          `The clock of this machine is ${spoken(aheadMs)} behind the newest event. Correct it (timedatectl set-ntp true): schedules, expiry and signatures depend on it.`,
        ),
      );
    const writtenMs = statSync(path.database).mtimeMs - nowMs;
    if (aheadMs <= tolerancesMs && writtenMs > tolerancesMs)
      findings.push(
        warning(
          `The database file was written ${spoken(writtenMs)} in the future. The clock was set back; correct it (timedatectl set-ntp true).`,
        ),
      );
    return findings;
  },
};

function spoken(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1440)} days`;
}

/** A newest backup older than this means that a daily backup was missed. */
const oldMs = 2 * dayMs;

const backups: Check = {
  name: 'backups',
  holds: 'a recent backup or a continuous copy exists',
  async look({ config, nowMs }) {
    const folder = config.backups?.folder;
    if (folder === undefined)
      return config.copy
        ? []
        : [
            warning(
              'No backups are configured, so a lost disk loses all data. Set --backup-dir or --copy-to for the server, and pass them to this command to check them.',
            ),
          ];
    if (!existsSync(folder))
      return [error(`The backup directory ${folder} does not exist. Mount its disk, or set --backup-dir.`)];
    const listed = await listBackups(folder);
    const damaged = listed.filter(({ problem }) => problem !== null);
    const newest = listed.find(({ manifest }) => manifest !== null)?.manifest;
    const age = newest ? nowMs - Date.parse(newest.createdAt) : null;
    return [
      ...damaged.map(({ path, problem }) => error(`${path}: ${problem}`)),
      ...(age === null ? [error(`${folder} has no valid backup. Create one with \`tatami backup\`.`)] : []),
      ...(age !== null && age > oldMs
        ? [
            warning(
              `The newest backup is ${Math.floor(age / dayMs)} days old. Create one with \`tatami backup\`.`,
            ),
          ]
        : []),
    ];
  },
};

/** Each connection and each open file needs one descriptor. */
const filesMin = 4_096;

const machine: Check = {
  name: 'machine',
  holds: 'plugins run in a complete jail, and the limit of open files is sufficient',
  async look({ config }) {
    const findings: Finding[] = [];
    const files = filesMax();
    if (files !== null && files < filesMin)
      findings.push(
        warning(
          `The limit of open files is ${files}. Raise it to ${filesMin} or more (LimitNOFILE= in systemd, ulimit -n).`,
        ),
      );
    const said: string[] = [];
    const sandbox = await startSandbox({
      nodePath: config.nodePath ?? findNode(),
      log: (level, message) => void (level === 'warn' && said.push(message)),
      clock: systemClock.nowMs,
      jail: config.sandboxJail,
      split: config.sandboxSplit,
    });
    const { jail } = sandbox.status();
    await sandbox.stop();
    if (jail !== 'full') findings.push(warning(said.join(' ')));
    else if (said.length > 0) findings.push(note(said.join(' ')));
    return findings;
  },
};

function filesMax(): number | null {
  const limits = '/proc/self/limits';
  if (!existsSync(limits)) return null;
  const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(limits, 'utf8'))?.[1];
  return soft === undefined ? null : Number(soft);
}

export const checks: readonly Check[] = [
  permissions,
  identity,
  ...ofTheFile,
  key,
  log,
  archive,
  files,
  replay,
  search,
  orphans,
  work,
  clock,
  disk,
  backups,
  machine,
  endpoints,
];

export interface Checked {
  readonly check: string;
  readonly holds: string;
  readonly findings: readonly Finding[];
  /** Reason why the check was skipped; null if it ran. */
  readonly skipped: NonNullable<Finding['blocks']> | null;
}

/** @param onChecked called after each check */
export async function examine(subject: Subject, onChecked: (checked: Checked) => void): Promise<Checked[]> {
  const results: Checked[] = [];
  let unreadable: Checked['skipped'] = null;
  for (const check of checks) {
    const skipped: Checked['skipped'] = check.readsDatabase ? unreadable : null;
    const findings: readonly Finding[] = skipped ? [] : await lookAt(check, subject);
    const checked = { check: check.name, holds: check.holds, findings, skipped };
    results.push(checked);
    onChecked(checked);
    if (ofTheFile.includes(check)) unreadable ??= findings.find(({ blocks }) => blocks)?.blocks ?? null;
  }
  return results;
}

async function lookAt(check: Check, subject: Subject): Promise<readonly Finding[]> {
  try {
    return await check.look(subject);
  } catch (thrown) {
    const why = systemSentence(thrown) ?? (thrown instanceof Error ? thrown.message : String(thrown));
    return [damage(`The check failed: ${why}`)];
  }
}
