// Records the SQL of a request that reads, so that the baseline of a page runs the same statements.
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

/** Returns the statements that the store reads with during `work`. */
export async function recordReads(store: Store, work: () => Promise<unknown>): Promise<RecordedStatement[]> {
  const recorded: RecordedStatement[] = [];
  const { read, readOne } = store;
  const note = (statement: Parameters<typeof bind>[0], params: SqlRow, workspaceId: string): void => {
    const bound = bind(statement, params, workspaceId);
    recorded.push({
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
    note(statement, params, scope.workspaceId);
    return read(scope, statement, params);
  };
  store.readOne = (scope, statement, params = {}) => {
    note(statement, params, scope.workspaceId);
    return readOne(scope, statement, params);
  };
  try {
    await work();
  } finally {
    Object.assign(store, { read, readOne });
  }
  return recorded;
}
