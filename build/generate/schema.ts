// Writes the types and facts of all tables from the migrations, which are the only description of columns.
import Database from 'libsql';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly required: number;
  readonly key: number;
  readonly refers: string | null;
}

const allColumns = `SELECT t.name AS "table", c.name, c.type, c."notnull" OR c.pk > 0 AS required, c.pk AS "key",
    (SELECT f."table" FROM pragma_foreign_key_list(t.name) AS f WHERE f."from" = c.name ORDER BY f.id DESC) AS refers
  FROM pragma_table_list AS t, pragma_table_info(t.name) AS c
  WHERE t.schema = 'main' AND t.type IN ('table', 'virtual') AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid`;

const types: Readonly<Record<string, string>> = { TEXT: 'string', BLOB: 'Uint8Array', '': 'string' };

/** @param root folder of the repository */
export function schemaText(root: string): string {
  const folder = join(root, 'core/platform/store/migrations');
  const db = new Database(':memory:');
  for (const file of [...new Bun.Glob('*.sql').scanSync(folder)].toSorted())
    db.exec(readFileSync(join(folder, file), 'utf8'));
  const tables = Map.groupBy(db.prepare(allColumns).all() as ColumnRow[], ({ table }) => table);
  db.close();
  return [
    '/** Values of the columns of each table. */',
    `export interface Schema { ${[...tables].map(typeText).join('\n')} }`,
    '',
    'export type TableName = keyof Schema;',
    '',
    '/** Names of the columns, without the workspace and separated by spaces. */',
    'interface TableFacts { readonly columns: string; readonly key: string; readonly isGlobal?: true; readonly references?: Readonly<Record<string, TableName>> }',
    '',
    `export const schema: Readonly<Record<TableName, TableFacts>> = { ${[...tables].map(factsText).join('\n')} };\n`,
  ].join('\n');
}

type Entry = readonly [table: string, columns: readonly ColumnRow[]];

function typeText([table, columns]: Entry): string {
  const values = columns.map(
    ({ name, type, required }) =>
      `readonly ${name}: ${types[type] ?? 'number'}${required === 1 ? '' : ' | null'};`,
  );
  return `readonly ${table}: { ${values.join(' ')} };`;
}

function factsText([table, columns]: Entry): string {
  const own = columns.filter(({ name }) => name !== 'workspace_id');
  const names = own.map(({ name }) => name).join(' ');
  const key = own.filter((column) => column.key > 0).toSorted((a, b) => a.key - b.key);
  const references = own.filter(({ refers }) => refers !== null);
  return `${table}: { columns: '${names}', key: '${key.map(({ name }) => name).join(' ')}',${
    own.length === columns.length ? ' isGlobal: true,' : ''
  }${
    references.length > 0
      ? ` references: { ${references.map(({ name, refers }) => `${name}: '${refers}'`).join(', ')} },`
      : ''
  } },`;
}
