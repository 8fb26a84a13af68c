import { damage, error, some, type RowCheck } from '../check.ts';
import type { ReadRows } from '../subject.ts';

/** Maximum number of problems that SQLite reports. */
const reportedMax = 20;

export const structure: RowCheck = {
  name: 'structure',
  holds: 'the database, its indexes and its references are consistent',
  readsDatabase: true,
  look(subject) {
    const said = subject
      .rows<{ integrity_check: string }>(`PRAGMA integrity_check(${reportedMax})`)
      .map((row) => row.integrity_check)
      .filter((text) => text !== 'ok');
    if (said.length > 0) {
      const isIndex = said.every((text) =>
        /missing from index|wrong # of entries in index|non-unique entry/.test(text),
      );
      return [
        isIndex
          ? damage(`The database is damaged: ${some(said)}.`, 'indexes')
          : damage(`The database is damaged: ${some(said)}. Restore a backup.`),
      ];
    }
    return brokenReferences(subject).map((sentence) => error(`${sentence}. Restore a backup.`));
  },
};

/** Returns a sentence without a full stop for each pair of tables with broken references. */
export function brokenReferences({ rows }: { readonly rows: ReadRows }): string[] {
  const broken = new Map<string, number>();
  for (const { table, parent } of rows<{ table: string; parent: string }>('PRAGMA foreign_key_check'))
    broken.set(`${table} → ${parent}`, (broken.get(`${table} → ${parent}`) ?? 0) + 1);
  return [...broken].map(([where, count]) => `${count} rows refer to a missing row: ${where}`);
}
