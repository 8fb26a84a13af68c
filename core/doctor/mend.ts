// Mends one thing that the doctor found. What destroys something needs a backup of this installation that was read whole a moment ago,
// and the operator's yes.
import { join } from 'node:path';
import { findProblem } from '../backup/folder.ts';
import { readManifest } from '../backup/unpack.ts';
import { tryLock } from '../store/data-dir.ts';
import { accept } from './fixes/accept.ts';
import type { Consent, Fix } from './fixes/fix.ts';
import { indexes } from './fixes/indexes.ts';
import { leftovers } from './fixes/leftovers.ts';
import { orphans } from './fixes/orphans.ts';
import { permissions } from './fixes/permissions.ts';
import type { Subject } from './subject.ts';

const fixes: readonly Fix[] = [permissions, leftovers, indexes, orphans, accept];

/** @returns what was done, in words. @throws Error that says what is missing */
export async function mend(subject: Subject, id: string, consent: Consent): Promise<string> {
  const fix = fixes.find((one) => one.id === id);
  if (!fix) throw new Error(`There is no fix "${id}". There are ${fixes.map((one) => one.id).join(', ')}.`);
  if (fix.isDestructive) await requireConsent(subject, fix, consent);
  const locked = tryLock(join(subject.dir, 'lock'));
  if ('heldBy' in locked)
    throw new Error(`Process ${locked.heldBy} serves ${subject.dir}. Stop it, and try again.`);
  try {
    // Nothing may be open for reading beside the one that writes.
    subject.close();
    return fix.mend(subject, consent);
  } finally {
    locked.release();
  }
}

async function requireConsent(subject: Subject, { id, does }: Fix, { backup, yes }: Consent): Promise<void> {
  if (backup === null || !yes)
    throw new Error(
      `\`${id}\` ${does}. Give a backup of this installation with --backup FILE, so that there is a way back, and say --yes.`,
    );
  const problem = await findProblem(backup);
  if (problem !== null) throw new Error(`${backup} is no way back: ${problem}`);
  const [row] = subject.rows<{ name: string }>('SELECT name FROM installation WHERE id = 1');
  const { manifest } = await readManifest(backup);
  if (manifest.name !== row?.name)
    throw new Error(`${backup} is a backup of another installation (${manifest.name ?? 'unnamed'}).`);
}
