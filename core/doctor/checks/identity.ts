import { join } from 'node:path';
import { recognise } from '../../store/integrity/recognise.ts';
import { isDatabase } from '../acceptable.ts';
import { error, type Check } from '../check.ts';

export const identity: Check = {
  name: 'identity',
  holds: 'the directory is the original or a complete copy',
  look({ dir, path, servedBy }) {
    if (servedBy !== null) return [];
    try {
      recognise({ path: dir, identity: join(dir, 'identity'), ...path });
      return [];
    } catch (thrown) {
      // An unreadable file is not an identity problem, and `accept` would not make it readable.
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
