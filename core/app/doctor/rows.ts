// Runs the checks that read only rows, for a database outside a data directory.
import type { Connection } from '../../platform/store/engine/looking.ts';
import { replay } from './checks/rows/replay.ts';
import { structure } from './checks/structure.ts';
import { texts } from './checks/rows/texts.ts';
import type { RowSubject } from './subject.ts';

/**
 * Omits the advice to restore a backup, because the caller imports a workspace.
 * @returns a sentence for each error of the first check that finds errors
 */
export function examineRows(db: Connection): string[] {
  const subject: RowSubject = {
    database: () => db,
    rows: <R>(sql: string, ...params: readonly (string | number | bigint)[]) =>
      db.prepare(sql).all([...params]) as R[],
  };
  for (const { look } of [structure, texts, replay]) {
    const wrong = look(subject)
      .filter(({ level }) => level === 'error')
      .map(({ message }) => message.replace(' Restore a backup.', ''));
    if (wrong.length > 0) return wrong;
  }
  return [];
}
