// Ops that write the row of an entity: an insert of all columns, or an update of the changed columns at the version that was read.
import {
  composedStatement,
  tenantStatement,
  type Statement,
  type Value,
} from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';
import type { Entity } from './change.ts';
import type { Columns } from './columns.ts';

export interface EntityOps<E extends Entity> {
  insert(scope: Scope, entity: E): Op;
  /** Fails if the row is no longer at the version of `before`. */
  update(scope: Scope, before: E, after: E): Op;
}

/** @param expressions values that SQL computes on insert: column → expression over the parameters of the statement */
export function entityOpsOf<E extends Entity>(
  table: string,
  columns: Columns<E>,
  expressions: Readonly<Record<string, string>>,
): EntityOps<E> {
  const { written, values } = columns;
  const insertRow = tenantStatement(
    `${table}.insert`,
    `INSERT INTO ${table} (workspace_id, id, version, ${written.join(', ')})
     VALUES (:ws, :id, 1, ${written.map((column) => expressions[column] ?? `:${column}`).join(', ')})`,
  );
  const known = new Set(['ws', 'id', ...written.filter((column) => !(column in expressions))]);
  // Parameters that only the expressions use are named like fields of the entity.
  const insertOnly = insertRow.params.filter((name) => !known.has(name));
  const updateRow = updatesOf(table);

  return {
    insert(scope, entity) {
      const params = values(entity);
      for (const name of insertOnly) params[name] = entity[name as keyof E] as Value;
      return tenantOp(scope, insertRow, params);
    },
    update(scope, before, after) {
      const [old, params] = [values(before), values(after)];
      const changed = Object.keys(params).filter((column) => params[column] !== old[column]);
      const moved = Object.fromEntries(changed.map((column) => [column, params[column]!]));
      const bound = { id: after.id, base: before.version, ...moved };
      return tenantOp(scope, updateRow(changed), bound, { expectRows: 1 });
    },
  };
}

/**
 * Updates only changed columns, so that SQLite skips the other indexes. The cache has one entry per set of
 * columns.
 */
function updatesOf(table: string): (changed: readonly string[]) => Statement {
  const statements = new Map<string, Statement>();
  return (changed) => {
    const key = changed.join();
    const known = statements.get(key);
    if (known) return known;
    const statement: Statement = composedStatement(
      `UPDATE ${table} SET version = version + 1${changed.map((column) => `, ${column} = :${column}`).join('')}
       WHERE workspace_id = :ws AND id = :id AND version = :base`,
    );
    statements.set(key, statement);
    return statement;
  };
}
