import { join } from 'node:path';
import { recognise } from '../../store/integrity/recognise.ts';
import { isDatabase } from '../acceptable.ts';
import { error, type Check } from '../check.ts';

export const identity: Check = {
  name: 'identity',
  holds: 'the directory is the one that its server wrote, or a whole copy of it',
  look({ dir, path, servedBy }) {
    if (servedBy !== null) return [];
    try {
      recognise({ path: dir, identity: join(dir, 'identity'), ...path });
      return [];
    } catch (thrown) {
      // A file that cannot be read says nothing of the directory, and accepting it would not make it readable.
      if (thrown instanceof Error && 'syscall' in thrown) throw thrown;
      return [
        error(
          thrown instanceof Error ? thrown.message : String(thrown),
          isDatabase(path.database) ? 'accept' : undefined,
        ),
      ];
    }
  },
};
