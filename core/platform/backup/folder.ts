// Lists the backups of a folder, finds damaged ones, and deletes those outside a retention rule.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DamagedBackup, type BackupFacts, type Manifest } from './manifest.ts';
import { retainedOf, type RetentionRule } from './retention-rule.ts';
import { readManifest, unpackBackup } from './unpack.ts';

/** File name such as `tatami-20261122T071547.123Z-4711.backup`: names sort by time; the number is the log position. */
export function backupName({ createdAt, log }: BackupFacts): string {
  return `tatami-${createdAt.replaceAll(/[-:]/g, '')}-${log.position}.backup`;
}

const namePattern = /^tatami-\d{8}T\d{6}\.\d{3}Z-\d+\.backup$/;

interface ListedBackup {
  readonly path: string;
  readonly bytes: number;
  /** Manifest; null if it is damaged or the file does not end with its checksum. */
  readonly manifest: Manifest | null;
  readonly problem: string | null;
}

/**
 * Returns the backups, newest first; reads only their manifests.
 * @throws Error if the folder cannot be read
 */
export async function listBackups(folder: string): Promise<ListedBackup[]> {
  const paths = readdirSync(folder)
    .filter((name) => namePattern.test(name))
    .sort()
    .reverse()
    .map((name) => join(folder, name));
  const listed: ListedBackup[] = [];
  for (const path of paths) {
    const { size: bytes } = statSync(path);
    const read = await orProblem(() => readManifest(path));
    listed.push({ path, bytes, manifest: read.value, problem: read.problem });
  }
  return listed;
}

/** Verifies all bytes of a backup. @returns the problem; null if the backup is intact */
export async function findProblem(
  path: string,
  onBytes?: (bytes: number, totalBytes: number) => void,
): Promise<string | null> {
  return (await orProblem(() => unpackBackup(path, null, onBytes))).problem;
}

async function orProblem<T>(read: () => Promise<T>): Promise<{ value: T | null; problem: string | null }> {
  try {
    return { value: await read(), problem: null };
  } catch (error) {
    if (error instanceof DamagedBackup) return { value: null, problem: error.message };
    throw error;
  }
}

interface Pruned {
  readonly kept: readonly string[];
  readonly deleted: readonly string[];
  /** Damaged backups, which are not deleted, so that an operator can inspect them. */
  readonly damaged: readonly string[];
}

type Readable = ListedBackup & { readonly createdAt: string; readonly manifest: Manifest };

/**
 * Deletes the backups of each installation that are outside the rule. The last intact backup always remains,
 * so the newest retained ones are verified until one is intact.
 */
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
