// Remembers in the data directory which folder something was put into. An empty folder in its place is the mount point of a disk that is
// not mounted, and what began anew there would lie on the disk that it is to outlive.
import { readdir } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { writeWholeFile } from '../../store/whole-file.ts';

/** Its message says what to do. */
export class EmptiedFolder extends Error {}

export interface KnownFolder {
  /** @throws EmptiedFolder where something was put there and nothing is there any more */
  check(): Promise<void>;
  /** Something of ours is there now. */
  remember(): void;
}

/** @param marker the file that remembers @param folder absolute */
export function createKnownFolder(marker: string, folder: string): KnownFolder {
  let isKnown = existsSync(marker) && readFileSync(marker, 'utf8').trim() === folder;
  return {
    async check() {
      if (isKnown && existsSync(marker) && (await isBare(folder)))
        throw new EmptiedFolder(
          `${folder} is empty or missing, and was in use before: mount the disk that belongs there. ` +
            `To begin anew in it, delete ${marker}.`,
        );
    },
    remember() {
      if (isKnown && existsSync(marker)) return;
      try {
        writeWholeFile(marker, `${folder}\n`);
        isKnown = true;
      } catch {
        // A disk that takes no writes must not stop what saves its data. The next time does it.
      }
    },
  };
}

/** Lock files do not count, nor what was not finished. */
async function isBare(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).every((name) => name.startsWith('.') || name === 'lost+found');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw error;
  }
}
