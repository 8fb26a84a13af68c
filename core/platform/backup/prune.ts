// Deletes backups outside the retention rule. The last intact backup always remains, so the newest retained ones are verified until one is
// intact.
import { rmSync } from 'node:fs';
import { findProblem, listBackups, type ListedBackup } from './folder.ts';
import { retainedOf, type RetentionRule } from './retention-rule.ts';
import type { Manifest } from './manifest.ts';

export interface Pruned {
  readonly kept: readonly string[];
  readonly deleted: readonly string[];
  /** Damaged backups, which are not deleted, so that an operator can inspect them. */
  readonly damaged: readonly string[];
}

type Readable = ListedBackup & { readonly createdAt: string; readonly manifest: Manifest };

/** Applies the rule to each installation separately. */
export async function pruneBackups(folder: string, rule: RetentionRule): Promise<Pruned> {
  const listed = await listBackups(folder);
  const readable = listed.flatMap((backup): Readable[] =>
    backup.manifest ? [{ ...backup, manifest: backup.manifest, createdAt: backup.manifest.createdAt }] : [],
  );
  const result = { kept: [] as string[], deleted: [] as string[], damaged: [] as string[] };
  result.damaged.push(...listed.filter(({ manifest }) => !manifest).map(({ path }) => path));
  for (const name of new Set(readable.map(({ manifest }) => manifest.name))) {
    const own = readable.filter(({ manifest }) => manifest.name === name);
    const kept = new Set(retainedOf(own, rule));
    const good = await lastGood(own, kept, result.damaged);
    for (const backup of own) {
      const stays = kept.has(backup) || backup === good || result.damaged.includes(backup.path);
      if (!stays) rmSync(backup.path);
      (stays ? result.kept : result.deleted).push(backup.path);
    }
  }
  return result;
}

/** Returns the newest intact retained backup; if there is none, the newest intact one of all. */
async function lastGood(
  own: readonly Readable[],
  kept: ReadonlySet<Readable>,
  damaged: string[],
): Promise<Readable | undefined> {
  const rest = own.filter((backup) => !kept.has(backup));
  for (const backup of [...kept, ...rest]) {
    if ((await findProblem(backup.path)) === null) return backup;
    damaged.push(backup.path);
  }
  return undefined;
}
