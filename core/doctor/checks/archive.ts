import { dirname, join } from 'node:path';
import { createArchive } from '../../store/archive.ts';
import { error, some, type Check } from '../check.ts';

interface FileRow {
  readonly workspace_id: string;
  readonly first_sequence: number;
  readonly last_sequence: number;
  readonly sha256: string;
}

export const archive: Check = {
  name: 'archive',
  holds: 'all archived event files exist and are undamaged',
  readsDatabase: true,
  async look({ path, rows }) {
    const files = rows<FileRow>(
      'SELECT workspace_id, first_sequence, last_sequence, sha256 FROM event_files',
    );
    const archive = createArchive(join(dirname(path.database), 'archive'), () => undefined);
    const bad: string[] = [];
    for (const { workspace_id: workspaceId, first_sequence: first, last_sequence: last, sha256 } of files)
      try {
        await archive.read(workspaceId, { first, last, sha256 });
      } catch (thrown) {
        bad.push(thrown instanceof Error ? thrown.message : String(thrown));
      }
    return bad.length > 0
      ? [error(`${bad.length} of ${files.length} archived event files are damaged: ${some(bad, 3)}`)]
      : [];
  },
};
