// Records the SQL that a request runs, so that the baseline runs the same statements.
import { type SqlRow, bind } from '../../core/platform/store/statement.ts';
import type { Store } from '../../core/platform/store/store.ts';

/** One statement and its values by parameter name, in order. */
export interface RecordedStatement {
  readonly name: string;
  readonly text: string;
  readonly params: readonly string[];
  readonly values: Readonly<Record<string, string | number | null | { readonly base64: string }>>;
  readonly returnsRows: boolean;
}

/** Returns the statements that the store runs during `work`. */
export async function record(
  store: Store,
  work: () => Promise<unknown>,
): Promise<{ reads: RecordedStatement[]; writes: RecordedStatement[] }> {
  const recorded = { reads: [] as RecordedStatement[], writes: [] as RecordedStatement[] };
  const { read, readOne, commit } = store;
  const note = (
    to: RecordedStatement[],
    statement: Parameters<typeof bind>[0],
    params: SqlRow,
    workspaceId: string | null,
  ): void => {
    const bound = bind(statement, params, workspaceId);
    to.push({
      name: statement.name,
      text: statement.text,
      params: statement.params,
      values: Object.fromEntries(
        statement.params.map((name, index) => {
          const value = bound[index]!;
          if (value instanceof Uint8Array) return [name, { base64: Buffer.from(value).toString('base64') }];
          return [name, typeof value === 'bigint' ? Number(value) : value];
        }),
      ),
      returnsRows: statement.returnsRows,
    });
  };
  store.read = (scope, statement, params = {}) => {
    note(recorded.reads, statement, params, scope.workspaceId);
    return read(scope, statement, params);
  };
  store.readOne = (scope, statement, params = {}) => {
    note(recorded.reads, statement, params, scope.workspaceId);
    return readOne(scope, statement, params);
  };
  store.commit = (ops) => {
    for (const op of ops) note(recorded.writes, op.statement, op.params, op.scope?.workspaceId ?? null);
    return commit(ops);
  };
  try {
    await work();
  } finally {
    Object.assign(store, { read, readOne, commit });
  }
  return recorded;
}
