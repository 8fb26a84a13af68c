import { changeOffline } from '../../store/looking.ts';
import type { Fix } from './fix.ts';

export const search: Fix = {
  id: 'search',
  does: 'clears the search index; the server rebuilds it after its next start',
  isDestructive: false,
  mend({ path }) {
    return changeOffline(path.database, (db) => {
      db.exec(`BEGIN IMMEDIATE;
        INSERT INTO search_index (search_index) VALUES ('delete-all');
        DELETE FROM search_documents;
        DELETE FROM search_pending;
        INSERT INTO search_pending (workspace_id, id, revision)
          SELECT workspace_id, id, 1 FROM issues WHERE deleted_at IS NULL
          UNION ALL SELECT workspace_id, id, 1 FROM comments WHERE deleted_at IS NULL;`);
      const [row] = db.prepare('SELECT count(*) AS count FROM search_pending').all() as { count: number }[];
      db.exec('COMMIT');
      return `cleared the index. The server indexes ${row?.count ?? 0} texts after its next start.`;
    });
  },
};
