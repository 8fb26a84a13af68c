import { changeOffline, schemaAt } from '../../store/looking.ts';
import type { Fix } from './fix.ts';

export const indexes: Fix = {
  id: 'indexes',
  does: 'creates missing indexes and rebuilds all indexes',
  isDestructive: false,
  mend({ path }) {
    return changeOffline(path.database, (db) => {
      const [at] = db.prepare('PRAGMA user_version').all() as { user_version: number }[];
      const there = new Set(
        (db.prepare('SELECT name FROM sqlite_schema').all() as { name: string }[]).map(({ name }) => name),
      );
      const missing = schemaAt(at?.user_version ?? 0).filter(
        ({ type, name }) => type === 'index' && !there.has(name),
      );
      for (const { sql } of missing) db.exec(sql);
      db.exec('REINDEX');
      return `created ${missing.length} missing indexes and rebuilt all indexes.`;
    });
  },
};
