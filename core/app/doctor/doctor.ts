// Runs all checks of `tatami doctor` in sequence.
import { type Check, damage, type Finding, type RowSubject } from '../../kernel/checks.ts';
import { systemSentence } from '../../platform/lib/errors/failures.ts';
import type { Connection } from '../../platform/store/engine/looking.ts';
import { features } from '../features.ts';
import { pages, schema, structure, texts } from './database-checks.ts';
import { backups, clock, disk, identity, machine, permissions } from './directory-checks.ts';
import { replay } from './replay.ts';
import { archive, derived, key, log, orphans, work } from './row-checks.ts';
import { rowReader, type Subject } from './subject.ts';

/**
 * Checks of the database file. If one of them finds that the file cannot be read, later checks that read it
 * are skipped.
 */
const ofTheFile: readonly Check<Subject>[] = [pages, structure, schema, texts];

/** Fixed checks in order, with those of features before the environment's. */
export const checks: readonly Check<Subject>[] = [
  permissions,
  identity,
  ...ofTheFile,
  key,
  log,
  archive,
  replay,
  derived,
  ...features.flatMap((feature) => feature.checks ?? []),
  orphans,
  work,
  clock,
  disk,
  backups,
  machine,
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

async function lookAt(check: Check<Subject>, subject: Subject): Promise<readonly Finding[]> {
  try {
    return await check.look(subject);
  } catch (thrown) {
    const why = systemSentence(thrown) ?? (thrown instanceof Error ? thrown.message : String(thrown));
    return [damage(`The check failed: ${why}`)];
  }
}

/**
 * Checks the rows of a database outside a data directory. Omits the advice to restore a backup, because the
 * caller imports a workspace.
 * @returns a sentence for each error of the first check that finds errors
 */
export function examineRows(db: Connection): string[] {
  const subject: RowSubject = {
    database: () => db,
    rows: rowReader(() => db),
  };
  for (const { look } of [structure, texts, replay]) {
    const wrong = look(subject)
      .filter(({ level }) => level === 'error')
      .map(({ message }) => message.replace(' Restore a backup.', ''));
    if (wrong.length > 0) return wrong;
  }
  return [];
}
