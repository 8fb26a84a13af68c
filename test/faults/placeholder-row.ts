// Inserts a row into any table, for checks that apply to all tables.
import type Database from 'libsql';
import type { Value } from '../../core/platform/store/statement.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
}

/**
 * Writes a row of a workspace in which every text except the `given` ones names its table. Foreign keys are not
 * checked.
 */
export function insertPlaceholderRow(
  db: InstanceType<typeof Database>,
  table: string,
  overrides: Readonly<Record<string, Value>> & { readonly workspace_id: string },
): void {
  const columns = db.prepare(`PRAGMA table_info(${table})`).all() as Column[];
  const values = columns.map(({ name, type, notnull }) => {
    if (name in overrides) return overrides[name]!;
    if (name === 'status' && type === 'TEXT') return table === 'runs' ? 'queued' : 'pending';
    if (notnull === 0 && name.endsWith('_at')) return null;
    return type === 'TEXT' ? `secret_${table}` : type === 'BLOB' ? Buffer.from('s') : 1n;
  });
  db.exec('PRAGMA foreign_keys = OFF');
  db.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`).run(values);
}
