// Runs one fix of the doctor. A destructive fix needs a backup of this installation, which is verified first, and the operator's
// confirmation.
import { cpSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { findProblem } from '../backup/folder.ts';
import { readManifest } from '../backup/unpack.ts';
import { tryLock } from '../store/data-dir.ts';
import { verifyPages } from '../store/integrity/verify.ts';
import { requireDatabase } from './acceptable.ts';
import { some } from './check.ts';
import { describePages } from './checks/pages.ts';
import { accept } from './fixes/accept.ts';
import type { FixConsent, Fix } from './fixes/fix.ts';
import { indexes } from './fixes/indexes.ts';
import { leftovers } from './fixes/leftovers.ts';
import { orphans } from './fixes/orphans.ts';
import { permissions } from './fixes/permissions.ts';
import { search } from './fixes/search.ts';
import { linksOf, pathsOf } from '../store/paths.ts';
import { requireOwner } from '../store/private.ts';
import type { Subject } from './subject.ts';

const fixes: readonly Fix[] = [permissions, leftovers, indexes, search, orphans, accept];

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
  const { manifest } = await readManifest(backup);
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
