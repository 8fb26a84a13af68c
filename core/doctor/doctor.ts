// Runs all checks of `tatami doctor` in sequence.
import { systemSentence } from '../lib/system-errors.ts';
import type { Check, Finding } from './check.ts';
import { damage } from './check.ts';
import { archive } from './checks/archive.ts';
import { backups } from './checks/backups.ts';
import { clock } from './checks/clock.ts';
import { disk } from './checks/disk.ts';
import { endpoints } from './checks/endpoints.ts';
import { files } from './checks/files.ts';
import { identity } from './checks/identity.ts';
import { key } from './checks/key.ts';
import { log } from './checks/log.ts';
import { machine } from './checks/machine.ts';
import { orphans } from './checks/orphans.ts';
import { pages } from './checks/pages.ts';
import { permissions } from './checks/permissions.ts';
import { replay } from './checks/replay.ts';
import { schema } from './checks/schema.ts';
import { search } from './checks/search.ts';
import { structure } from './checks/structure.ts';
import { texts } from './checks/texts.ts';
import { work } from './checks/work.ts';
import type { Subject } from './subject.ts';

/**
 * Checks of the database file. If one of them finds that the file cannot be read, later checks that read it
 * are skipped.
 */
const ofTheFile: readonly Check[] = [pages, structure, schema, texts];

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
