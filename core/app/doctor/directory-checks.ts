// Checks of the data directory and its environment: permissions, disk space, identity, clock, backups and
// machine.
import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Check, error, type Finding, note, some, warning } from '../../kernel/checks.ts';
import { listBackups } from '../../platform/backup/folder.ts';
import { systemClock } from '../../platform/lib/time/clock.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import { findNode } from '../../platform/sandbox/locate.ts';
import { startSandbox } from '../../platform/sandbox/supervisor.ts';
import { openIn, pathsOf } from '../../platform/store/files/private.ts';
import { recognise, schemaOfFile } from '../../platform/store/integrity/identity.ts';
import type { Subject } from './subject.ts';

/** Endings of temporary file names; a killed start or command leaves files with them. */
export const unfinished = /\.(new|new-journal|restoring)$/;

export const permissions: Check<Subject> = {
  name: 'permissions',
  holds: 'only one user owns and can access the data directory',
  look({ dir, path }) {
    const all = pathsOf(dir);
    const links = all.filter(({ stats }) => stats.isSymbolicLink()).map(({ path }) => path);
    const facts = all.filter(({ stats }) => !stats.isSymbolicLink());
    const open = facts.filter(({ stats }) => (stats.mode & 0o077) !== 0).map(({ path }) => path);
    const owner = all[0]!.stats.uid;
    const foreign = facts.filter(({ stats }) => stats.uid !== owner).map(({ path }) => path);
    const left = all.map(({ path }) => path).filter((path) => unfinished.test(path));
    return [
      ...(open.length > 0 ? [error(`Other users may read or change ${some(open)}.`, 'permissions')] : []),
      ...openIn(dir, [path.snapshots, path.walArchive])
        .filter(({ isLink }) => isLink)
        .map(({ message }) =>
          error(`${message}. The server does not start; make the target private yourself.`),
        ),
      ...(foreign.length > 0
        ? [
            // A server that runs as root can read files of all users.
            (owner === 0 ? warning : error)(
              `These files have another owner than ${dir}: ${some(foreign)}. Only root can change that.`,
              'permissions',
            ),
          ]
        : []),
      ...(links.length > 0
        ? [warning(`Symbolic links are not followed. Check their targets yourself: ${some(links)}.`)]
        : []),
      ...(left.length > 0
        ? [warning(`A killed process left unfinished files: ${some(left)}.`, 'leftovers')]
        : []),
    ];
  },
};

/** Minimum free space for the database to grow. */
const littleBytes = 256 * 1024 * 1024;

export const disk: Check<Subject> = {
  name: 'disk',
  holds: 'there is enough disk space for the database and a snapshot of it',
  look({ dir, path }) {
    const { bavail, bsize } = statfsSync(dir);
    const free = bavail * bsize;
    const size = sizeOf(path.database);
    const log = sizeOf(`${path.database}-wal`);
    const findings: Finding[] = [];
    if (free < littleBytes)
      findings.push(
        error(
          `Only ${bytesText(free)} are free at ${dir}, and the database has ${bytesText(size)}. Free disk space.`,
        ),
      );
    else if (free < size)
      findings.push(
        warning(
          `Only ${bytesText(free)} are free at ${dir}. An upgrade needs ${bytesText(size)} for a snapshot. Free disk space before you upgrade.`,
        ),
      );
    if (log > 64 * 1024 * 1024 && log > size)
      findings.push(note(`The write-ahead log has ${bytesText(log)}. Stop the server to checkpoint it.`));
    const old = filesIn(path.snapshots);
    if (old.length > 1)
      findings.push(
        note(
          `${old.length} upgrade snapshots use ${bytesText(old.reduce((sum, file) => sum + sizeOf(file), 0))}. Delete the older ones if you need the space.`,
        ),
      );
    return findings;
  },
};

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function filesIn(dir: string): string[] {
  return statSync(dir, { throwIfNoEntry: false }) ? readdirSync(dir).map((name) => join(dir, name)) : [];
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a size with binary units: `1536` → `1.5 KiB`. */
function bytesText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** Returns true if the header of the file contains a schema version. */
export const isDatabase = (path: string): boolean => schemaOfFile(path) > 0;

export const identity: Check<Subject> = {
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

const tolerancesMs = 120_000;

export const clock: Check<Subject> = {
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

export const backups: Check<Subject> = {
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

export const machine: Check<Subject> = {
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
