// A folder as a destination that was in use before and is empty now is not written to.
import { dirname, join } from 'node:path';
import type { Destination } from './destination.ts';
import { createKnownFolder } from './known-folder.ts';

/** @param database the file; what is remembered lies beside it */
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
    /** Checked as well: who reads that nothing is there begins anew. */
    async list(prefix) {
      await known.check();
      return destination.list(prefix);
    },
  };
}
