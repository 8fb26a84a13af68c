// All tables of the schema. A table that is not declared is a type error here.
import { dependenciesFirst, type Export, type Table } from '../kernel/table/define.ts';
import type { TableName } from '../platform/store/generated/schema.ts';
import { tenantStatement, type Statement } from '../platform/store/statement.ts';
import { all } from './generated/tables.ts';

export const tableOf = all satisfies Readonly<Record<TableName, Table>>;

export const tables: readonly Table[] = Object.values(tableOf);

/** Names of the contracts whose objects belong to a server and are not exported with a workspace. */
export const contractsOfServer: readonly string[] = tables.flatMap(({ contract, exported }) =>
  contract && 'not' in exported ? [contract.name] : [],
);

/** Table that is exported with a workspace. */
export interface ExportedTable extends Table {
  readonly exported: Export<string>;
  /** Column that refers to another row of the same table; referenced rows are exported first. */
  readonly parent: string | undefined;
}

const referencedFirst = dependenciesFirst(tables, ({ references }) =>
  Object.values(references).map((name) => tableOf[name]),
);

/** Exported tables, in an order in which referenced rows come first. */
export const exportedTables: readonly ExportedTable[] = (['first', undefined, 'last'] as const).flatMap(
  (place) =>
    referencedFirst.flatMap((table): ExportedTable[] => {
      const { name, exported, references } = table;
      if ('not' in exported || exported.place !== place) return [];
      const parent = Object.entries(references).find(([, to]) => to === name)?.[0];
      return [{ ...table, exported, parent }];
    }),
);

/** Declares statements that delete all rows that belong to the row `:id` of a table. */
export function dropStatementsOf(owner: TableName): readonly Statement[] {
  return tables.flatMap(({ name, owners }) => {
    const columns = owners.filter((link) => link.table === owner).map(({ by }) => `${by} = :id`);
    if (columns.length === 0) return [];
    return [
      tenantStatement(
        `${name}.drop_of_${owner}`,
        `DELETE FROM ${name} WHERE workspace_id = :ws AND (${columns.join(' OR ')})`,
      ),
    ];
  });
}
