// Measures free space on the disk of the data directory, and the size of the database.
import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';

const megabyte = 1024 * 1024;
/**
 * Hysteresis: a shortage ends only when free space exceeds the reserve by this factor, so that the state does
 * not change with each file.
 */
const enoughFactor = 1.1;

export interface DiskSpace {
  /** Bytes available to this user. */
  readonly free: number;
  readonly total: number;
}

export function diskSpaceOf(dataDir: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(dataDir);
  return { free: bavail * bsize, total: blocks * bsize };
}

/** Returns the sizes of the database and its log in bytes; 0 for a missing file. */
export function databaseBytes(dataDir: string): { database: number; log: number } {
  const sizeOf = (name: string): number =>
    statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0;
  return { database: sizeOf('tatami.db'), log: sizeOf('tatami.db-wal') };
}

/**
 * Returns a message if the disk is nearly full, else null.
 * @param reserveMb minimum of free megabytes; on a small disk a tenth of its size, if that is less
 */
export function shortage({ free, total }: DiskSpace, reserveMb: number, wasShort: boolean): string | null {
  const reserve = Math.min(reserveMb * megabyte, total / 10) * (wasShort ? enoughFactor : 1);
  if (free >= reserve) return null;
  return `${inMegabytes(free)} of ${inMegabytes(total)} are free on the disk of the data directory. Free some space: writes are rejected once the disk is full.`;
}

function inMegabytes(bytes: number): string {
  return `${Math.floor(bytes / megabyte)} MB`;
}
