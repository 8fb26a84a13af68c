// Records in the data directory which folder was used. If that folder is empty now, its disk is probably not
// mounted, and new files would be written to the disk whose loss the copy must survive.
import { readdir } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { writeWholeFile } from '../../store/files/installation.ts';

/** The message states the remedy. */
export class EmptiedFolder extends Error {}

export interface KnownFolder {
  /** @throws EmptiedFolder if the folder was used before and is empty now */
  check(): Promise<void>;
  /** Records that the folder contains files of this server. */
  remember(): void;
}

/** @param marker path of the marker file @param folder absolute path */
export function createKnownFolder(marker: string, folder: string): KnownFolder {
  let isKnown = existsSync(marker) && readFileSync(marker, 'utf8').trim() === folder;
  return {
    async check() {
      if (isKnown && existsSync(marker) && (await isBare(folder)))
        throw new EmptiedFolder(
          `${folder} is empty or missing, but was in use before: mount the disk. ` +
            `To start over in this folder, delete ${marker}.`,
        );
    },
    remember() {
      if (isKnown && existsSync(marker)) return;
      try {
        writeWholeFile(marker, `${folder}\n`);
        isKnown = true;
      } catch {
        // A read-only data directory must not stop the copy that saves its data. The next call retries.
      }
    },
  };
}

/** Ignores hidden files, which are locks and unfinished files, and `lost+found`. */
async function isBare(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).every((name) => name.startsWith('.') || name === 'lost+found');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw error;
  }
}
