// Refuses to write to a destination folder that was in use before and is empty now.
import { dirname, join } from 'node:path';
import type { Destination } from './destination.ts';
import { createKnownFolder } from './known-folder.ts';

/** @param database path of the database; the marker file is in the same folder */
export function guarded(destination: Destination, database: string): Destination {
  const { folder } = destination;
  if (folder === null) return destination;
  const known = createKnownFolder(join(dirname(database), 'copied-to'), folder);
  return {
    ...destination,
    async put(name, bytes) {
      await known.check();
      await destination.put(name, bytes);
      known.remember();
    },
    /** Checks the folder, because the list of an unmounted disk is empty, which would start a new chain. */
    async list(prefix) {
      await known.check();
      return destination.list(prefix);
    },
  };
}
