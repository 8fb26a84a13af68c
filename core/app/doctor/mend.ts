// Runs one fix of the doctor. A destructive fix needs a backup of this installation, which is verified first,
// and the operator's confirmation.
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  cpSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { type ReadRows, some } from '../../kernel/checks.ts';
import { findProblem } from '../../platform/backup/folder.ts';
import { readManifest } from '../../platform/backup/unpack.ts';
import { changeOffline, latestSchema, schemaAt } from '../../platform/store/engine/looking.ts';
import { beginHistory } from '../../platform/store/files/copied-database.ts';
import { tryLock } from '../../platform/store/files/data-dir.ts';
import { linksOf, pathsOf, requireOwner } from '../../platform/store/files/private.ts';
import { adoptDatabase, schemaOfFile } from '../../platform/store/integrity/identity.ts';
import { checkWhole } from '../../platform/store/integrity/page-sums.ts';
import { verifyPages } from '../../platform/store/integrity/verify.ts';
import { brokenReferences, describePages } from './database-checks.ts';
import { isDatabase, unfinished } from './directory-checks.ts';
import { orphaned } from './row-checks.ts';
import { tables } from '../../features/tables.ts';
import type { Subject } from './subject.ts';

export interface FixConsent {
  /**
   * Path of a backup of this installation, or of a directory into which the data directory is copied first.
   */
  readonly backup: string | null;
  readonly yes: boolean;
  /** True if the operator changed the database with another program. */
  readonly altered: boolean;
}

/** Repair of `tatami doctor fix ID`. No server may use the directory during a repair. */
interface Fix {
  readonly id: string;
  /** Sentence without subject that describes the fix when it asks for confirmation. */
  readonly does: string;
  /** True if the fix deletes data that afterwards only a backup has. */
  readonly isDestructive: boolean;
  /** True if the fix changes no pages of the database, or handles damaged pages itself. */
  readonly bearsDamage?: true;
  /** Called before anything is copied or changed. @throws Error that says why the fix is refused */
  check?(subject: Subject, consent: FixConsent): void;
  /**
   * True if root may run the fix on the directory of another user, because it leaves no files owned by root.
   */
  readonly bearsOwner?: true;
  /** @returns sentence without subject about what was done */
  mend(subject: Subject, consent: FixConsent): string;
}

/** @returns sentence without subject about what was done @throws Error that says why the fix cannot run */
export async function mend(subject: Subject, id: string, consent: FixConsent): Promise<string> {
  const fix = fixes.find((one) => one.id === id);
  if (!fix) throw new Error(`Unknown fix "${id}". Use one of ${fixes.map((one) => one.id).join(', ')}.`);
  if (!fix.bearsOwner) requireOwner(subject.dir);
  const locked = tryLock(join(subject.dir, 'lock'));
  if ('lockedBy' in locked)
    throw new Error(`Process ${locked.lockedBy} uses ${subject.dir}. Stop it and try again.`);
  try {
    requireFiles(subject);
    if (!fix.bearsDamage) requireWhole(subject);
    if (fix.isDestructive) requireConsent(fix, consent);
    fix.check?.(subject, consent);
    if (consent.backup !== null && fix.isDestructive) await requireBackup(subject, consent.backup);
    // Closes the read connection, because the fix needs the database exclusively.
    subject.close();
    return fix.mend(subject, consent);
  } finally {
    locked.release();
  }
}

/** Refuses symbolic links, because SQLite and the fixes would write to or remove their targets. */
function requireFiles({ dir, path }: Subject): void {
  const names = ['', '-wal', '-shm', '-journal'].map((suffix) => `${path.database}${suffix}`);
  const link = [...names, path.logHead, join(dir, 'identity')].find((name) =>
    lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink(),
  );
  if (link !== undefined)
    throw new Error(`${link} is a symbolic link. Replace it with the file itself and try again.`);
}

/** Refuses damaged pages, because a changed page gets a new checksum even if its contents are wrong. */
function requireWhole({ path }: Subject): void {
  requireDatabase(path.database);
  const { damaged } = verifyPages(path.database);
  if (damaged.length > 0)
    throw new Error(
      `${describePages(path.database, damaged)} A damaged database cannot be repaired; restore a backup.`,
    );
}

function requireConsent({ id, does }: Fix, { backup, yes }: FixConsent): void {
  if (backup === null || !yes)
    throw new Error(
      `\`${id}\` ${does}. Pass --backup FILE with a backup of this installation, or with an existing directory into which the data directory is copied first, and --yes to confirm.`,
    );
}

async function requireBackup(subject: Subject, backup: string): Promise<void> {
  if (statSync(backup, { throwIfNoEntry: false })?.isDirectory()) return copyAside(subject, backup);
  const problem = await findProblem(backup);
  if (problem !== null) throw new Error(`${backup} is not a valid backup: ${problem}`);
  const [row] = subject.rows<{ name: string }>('SELECT name FROM installation WHERE id = 1');
  const manifest = await readManifest(backup);
  if (manifest.name !== row?.name)
    throw new Error(
      `${backup} is a backup of another installation (${manifest.name ?? 'unnamed'}). Pass a backup of this one.`,
    );
}

/** Copies the directory byte for byte in place of a backup. */
function copyAside({ dir, nowMs }: Subject, folder: string): void {
  const links = linksOf(dir);
  if (links.length > 0)
    throw new Error(
      `A copy of ${dir} would lack the targets of its symbolic links: ${some(links)}. Pass a backup with --backup FILE instead.`,
    );
  const copy = join(folder, `${basename(dir)}-${new Date(nowMs).toISOString().replaceAll(':', '')}`);
  mkdirSync(copy, { mode: 0o700 });
  // A socket that a killed server left has no data and cannot be copied.
  cpSync(dir, copy, { recursive: true, filter: (path) => !lstatSync(path).isSocket() });
  for (const { path: from, stats } of pathsOf(dir)) {
    const to = join(copy, relative(dir, from));
    if (stats.isFile() && !readFileSync(from).equals(readFileSync(to)))
      throw new Error(`The copy ${to} differs from ${from}. Nothing was changed; try again.`);
  }
}

const leftovers: Fix = {
  id: 'leftovers',
  does: 'removes unfinished files of a killed start or command',
  isDestructive: false,
  bearsDamage: true,
  mend({ dir }) {
    const left = pathsOf(dir).filter(({ path }) => path !== dir && unfinished.test(path));
    for (const { path } of left) rmSync(path, { recursive: true, force: true });
    return `removed ${left.length} unfinished files.`;
  },
};

const indexes: Fix = {
  id: 'indexes',
  does: 'creates missing indexes and rebuilds all indexes',
  isDestructive: false,
  mend({ path }) {
    return changeOffline(path.database, (db) => {
      const [at] = db.prepare('PRAGMA user_version').all() as { user_version: number }[];
      const there = new Set(
        (db.prepare('SELECT name FROM sqlite_schema').all() as { name: string }[]).map(({ name }) => name),
      );
      const missing = schemaAt(at?.user_version ?? 0).filter(
        ({ type, name }) => type === 'index' && !there.has(name),
      );
      for (const { sql } of missing) db.exec(sql);
      db.exec('REINDEX');
      return `created ${missing.length} missing indexes and rebuilt all indexes.`;
    });
  },
};

const search: Fix = {
  id: 'search',
  does: 'clears the search index; the server rebuilds it after its next start',
  isDestructive: false,
  mend({ path }) {
    return changeOffline(path.database, (db) => {
      db.exec(`BEGIN IMMEDIATE;
        INSERT INTO search_index (search_index) VALUES ('delete-all');
        DELETE FROM search_documents;
        DELETE FROM cursors WHERE consumer = 'projection search';`);
      const texts = ['issues', 'comments'].map(
        (table) => `(SELECT count(*) FROM ${table} WHERE deleted_at IS NULL)`,
      );
      const [row] = db.prepare(`SELECT ${texts.join(' + ')} AS count`).all() as { count: number }[];
      db.exec('COMMIT');
      return `cleared the index. The server indexes ${row?.count ?? 0} texts after its next start.`;
    });
  },
};

const orphans: Fix = {
  id: 'orphans',
  does: 'deletes rows whose owner is missing, such as runs of missing plugins',
  isDestructive: true,
  mend({ path }) {
    return changeOffline(path.database, (db) => {
      db.exec('PRAGMA foreign_keys = ON; BEGIN IMMEDIATE');
      const removed = orphaned.map(({ what, table: { name }, where }) => {
        // Rows that reference an orphaned one, such as the attempts of a delivery, are deleted first.
        for (const part of tables)
          for (const { table, by } of part.owners)
            if (table === name && part.references[by] === name)
              db.exec(
                `DELETE FROM ${part.name} WHERE (workspace_id, ${by}) IN (SELECT workspace_id, id FROM ${name} WHERE ${where})`,
              );
        const count = db.prepare(`DELETE FROM ${name} WHERE ${where} RETURNING 1`).all().length;
        return count > 0 ? [`${count} ${what}`] : [];
      });
      db.exec('COMMIT');
      return `deleted ${removed.flat().join(', ') || 'nothing'}.`;
    });
  },
};

const accept: Fix = {
  id: 'accept',
  does: 'accepts the database as it is; acknowledged writes that it lacks are lost',
  isDestructive: true,
  bearsDamage: true,
  check({ path, rows }, { altered }) {
    requireDatabase(path.database);
    const { damaged } = verifyPages(path.database);
    if (damaged.length > 0 && !altered)
      throw new Error(
        `${describePages(path.database, damaged)} Their contents may be wrong without being noticed. Restore a backup. Pass --altered only if you changed the database yourself with another program.`,
      );
    const damage = checkWhole(path.database)[0] ?? brokenReferences({ rows })[0];
    if (damage !== undefined)
      throw new Error(`${path.database} is damaged and cannot be accepted: ${damage}. Restore a backup.`);
    requireTables(path.database, rows);
  },
  mend({ dir, path, nowMs }) {
    const generation = beginHistory(path.database, nowMs);
    adoptDatabase(dir);
    return `accepted the database. Log generation ${generation} begins, and readers of the feed are notified. Webhooks, plugins and schedules wait for \`tatami release\`.`;
  },
};

const permissions: Fix = {
  id: 'permissions',
  does: 'removes the access of other users to the data directory, and gives files of other users to its owner',
  isDestructive: false,
  bearsDamage: true,
  bearsOwner: true,
  mend({ dir }) {
    const all = pathsOf(dir).filter(({ stats }) => !stats.isSymbolicLink());
    const owner = statSync(dir);
    const foreign = all.filter(({ stats }) => stats.uid !== owner.uid);
    const open = all.filter(({ stats }) => (stats.mode & 0o077) !== 0);
    if (foreign.length > 0 && process.geteuid?.() !== 0)
      throw new Error(`${foreign.length} files of ${dir} belong to another user. Run this command as root.`);
    for (const { path } of foreign) changeOwn(dir, path, (at) => chownSync(at, owner.uid, owner.gid));
    for (const { path, stats } of open) changeOwn(dir, path, (at) => chmodSync(at, stats.mode & 0o700));
    return (
      [
        ...(foreign.length > 0 ? [`gave ${foreign.length} files to the owner of the directory.`] : []),
        ...(open.length > 0
          ? [
              `made ${open.length} files private. If master.key was readable, other users may have read it; consider \`tatami master-key rotate\`.`,
            ]
          : []),
      ].join(' ') || 'nothing to change.'
    );
  },
};

/** O_PATH of Linux: references a file, also a socket or a pipe, without opening it. */
const namesOnly = 0o10000000;

/**
 * Changes a file inside the directory. In the directory of another user, root goes through a descriptor,
 * because that user could replace a directory with a link in the meantime, or have hard-linked a file of root
 * there.
 * @throws Error if the path is a link, is outside the directory, or has other hard links
 */
function changeOwn(dir: string, path: string, change: (at: string) => void): void {
  if (process.platform !== 'linux' || statSync(dir).uid === process.geteuid?.()) return change(path);
  const fd = openSync(path, namesOnly | constants.O_NOFOLLOW);
  try {
    const at = `/proc/self/fd/${fd}`;
    const [stats, real, top] = [fstatSync(fd), readlinkSync(at), realpathSync(dir)];
    const isInside = real === top || real.startsWith(`${top}/`);
    if (stats.isSymbolicLink() || !isInside || (!stats.isDirectory() && stats.nlink > 1))
      throw new Error(
        `${path} is a symbolic link or has another hard link. Remove it, or change it yourself.`,
      );
    change(at);
  } finally {
    closeSync(fd);
  }
}

const fixes: readonly Fix[] = [permissions, leftovers, indexes, search, orphans, accept];

const wayBack = 'Restore a backup with `tatami restore`.';

/** @throws Error if the file is not a database of Tatami */
function requireDatabase(path: string): void {
  if (!isDatabase(path)) throw new Error(`${path} is missing, empty or not a Tatami database. ${wayBack}`);
}

/** @throws Error if the database lacks what a new log generation needs */
function requireTables(database: string, rows: ReadRows): void {
  const at = schemaOfFile(database);
  if (at > latestSchema)
    throw new Error(
      `${database} has schema ${at}, but this version supports up to ${latestSchema}. ${wayBack}`,
    );
  const existing = new Set(rows<{ name: string }>('SELECT name FROM sqlite_schema').map(({ name }) => name));
  const missing = schemaAt(at).filter(({ type, name }) => type === 'table' && !existing.has(name));
  const lacks =
    missing.length > 0
      ? missing.map(({ name }) => `table ${name}`)
      : ['log_head', 'installation']
          .filter((table) => rows(`SELECT 1 FROM ${table} WHERE id = 1`).length === 0)
          .map((table) => `the row of ${table}`);
  if (lacks.length > 0) throw new Error(`${database} lacks ${some(lacks)} of schema ${at}. ${wayBack}`);
}
