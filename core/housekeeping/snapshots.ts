// Removes expired snapshots of earlier migrations. The newest one always remains.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** File name pattern of `migrate`, such as `schema-7-2026-11-20T120000.000Z.db`. */
const name = /^schema-\d+-(\d{4}-\d{2}-\d{2}T)(\d{2})(\d{2})(\d{2}\.\d{3}Z)\.db$/;

/** @returns the names of removed snapshots */
export function removeSnapshots(folder: string, before: number): string[] {
  const timed = readFolder(folder)
    .flatMap((file) => {
      const [, day, hours, minutes, seconds] = name.exec(file) ?? [];
      return day === undefined ? [] : [{ file, atMs: Date.parse(`${day}${hours}:${minutes}:${seconds}`) }];
    })
    .sort((a, b) => b.atMs - a.atMs);
  const old = timed.slice(1).filter(({ atMs }) => atMs <= before);
  for (const { file } of old) rmSync(join(folder, file), { force: true });
  return old.map(({ file }) => file);
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
