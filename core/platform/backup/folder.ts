// Lists the backups of a folder, and finds damaged ones.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DamagedBackup, type BackupFacts, type Manifest } from './manifest.ts';
import { readManifest, unpackBackup } from './unpack.ts';

/** File name such as `tatami-20261122T071547.123Z-4711.backup`: names sort by time; the number is the log position. */
export function backupName({ createdAt, log }: BackupFacts): string {
  return `tatami-${createdAt.replaceAll(/[-:]/g, '')}-${log.position}.backup`;
}

const namePattern = /^tatami-\d{8}T\d{6}\.\d{3}Z-\d+\.backup$/;

export interface ListedBackup {
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
