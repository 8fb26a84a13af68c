// A folder of backups: what they are called, which are there, and which of them are good.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DamagedBackup, type Manifest } from './manifest.ts';
import { readManifest, unpackBackup } from './unpack.ts';

/** `tatami-20261122T071547.123Z-4711.backup`: names sort by time; the number is the position of the log. */
export function backupName({ createdAt, log }: Pick<Manifest, 'createdAt' | 'log'>): string {
  return `tatami-${createdAt.replaceAll(/[-:]/g, '')}-${log.position}.backup`;
}

const named = /^tatami-\d{8}T\d{6}\.\d{3}Z-\d+\.backup$/;

export interface ListedBackup {
  readonly path: string;
  readonly bytes: number;
  /** Null where its first line or its length says that it is damaged. */
  readonly manifest: Manifest | null;
  readonly problem: string | null;
}

/** The newest first. Only the first line of each is read. @throws Error where the folder cannot be read */
export async function listBackups(folder: string): Promise<ListedBackup[]> {
  const paths = readdirSync(folder)
    .filter((name) => named.test(name))
    .sort()
    .reverse()
    .map((name) => join(folder, name));
  const listed: ListedBackup[] = [];
  for (const path of paths) {
    const { size: bytes } = statSync(path);
    const read = await orProblem(() => readManifest(path));
    listed.push({ path, bytes, manifest: read.value?.manifest ?? null, problem: read.problem });
  }
  return listed;
}

/** Reads all of a backup. @returns what is wrong with it; null where it is good */
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
