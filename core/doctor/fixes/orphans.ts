import { changeOffline } from '../../store/looking.ts';
import { orphaned } from '../checks/orphans.ts';
import type { Fix } from './fix.ts';

export const orphans: Fix = {
  id: 'orphans',
  does: 'deletes orphaned runs, deliveries, values and work items',
  isDestructive: true,
  mend({ path }) {
    return changeOffline(path.database, (db) => {
      // Attempts reference their delivery, so they are deleted first.
      db.exec('PRAGMA foreign_keys = ON; BEGIN IMMEDIATE');
      const removed = orphaned.map(({ what, table, where }) => {
        if (table === 'deliveries')
          db.exec(
            `DELETE FROM attempts WHERE (workspace_id, delivery_id) IN (SELECT workspace_id, id FROM deliveries WHERE ${where})`,
          );
        const count = db.prepare(`DELETE FROM ${table} WHERE ${where} RETURNING 1`).all().length;
        return count > 0 ? [`${count} ${what}`] : [];
      });
      db.exec('COMMIT');
      return `deleted ${removed.flat().join(', ') || 'nothing'}.`;
    });
  },
};
