// How much room there is: of the disk that the data directory lies on, and what the database takes of it.
import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';

const megabyte = 1024 * 1024;
/** What is short of room counts as such until there is so much more again, so that it does not come and go with each file. */
const enoughFactor = 1.1;

export interface Room {
  /** Bytes that this user may write. */
  readonly free: number;
  readonly total: number;
}

export function roomOf(dataDir: string): Room {
  const { bavail, blocks, bsize } = statfsSync(dataDir);
  return { free: bavail * bsize, total: blocks * bsize };
}

/** Of the database and its log; 0 for one that is not there. */
export function databaseBytes(dataDir: string): { database: number; log: number } {
  const sizeOf = (name: string): number =>
    statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0;
  return { database: sizeOf('tatami.db'), log: sizeOf('tatami.db-wal') };
}

/**
 * What to say of a disk that is full soon; null where it is not.
 * @param reserveMb less than this is short, or less than a tenth of a small disk
 */
export function shortage({ free, total }: Room, reserveMb: number, wasShort: boolean): string | null {
  const reserve = Math.min(reserveMb * megabyte, total / 10) * (wasShort ? enoughFactor : 1);
  if (free >= reserve) return null;
  return `${inMegabytes(free)} of ${inMegabytes(total)} are free on the disk of the data directory. Free some: writes are refused once it is full.`;
}

function inMegabytes(bytes: number): string {
  return `${Math.floor(bytes / megabyte)} MB`;
}
