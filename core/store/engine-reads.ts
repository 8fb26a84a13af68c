// Reads of the embedded engine: on the event loop where a statement is known to cost little there, else by the readers.
import { threadMs } from '../lib/processor.ts';
import type { Compile } from './compile.ts';
import type { Readers } from './readers.ts';
import type { Params, Statement } from './statement.ts';
import type { Scope, Store } from './store.ts';
import { bind, rowOf } from './values.ts';

/** On the event loop. */
export function readRows<R>(
  compile: Compile,
  statement: Statement<R>,
  params: Params,
  workspaceId: string | null,
): R[] {
  const { prepared, columns } = compile(statement);
  return prepared.all(bind(statement, params, workspaceId)).map((values) => rowOf(columns, values)) as R[];
}

/** @param heard resolves once the loop has heard of all that may be committed by now */
export function createReads(
  compile: Compile,
  readers: Readers,
  heard: () => Promise<void>,
): Pick<Store, 'read' | 'readOne' | 'readSystem'> {
  return {
    async read<R>(scope: Scope, statement: Statement<R>, params: Params = {}) {
      const { pace, columns } = compile(statement);
      if (!pace?.isSlow(scope.workspaceId)) {
        const before = pace ? threadMs() : 0;
        const found = readRows(compile, statement, params, scope.workspaceId);
        if (pace) pace.took(scope.workspaceId, threadMs() - before);
        return found;
      }
      const rows = await readers.read(scope, statement.text, bind(statement, params, scope.workspaceId));
      // A reader may have seen what no cache knows yet, nor the loop's own connection.
      await heard();
      return rows.map((values) => rowOf(columns, values)) as R[];
    },
    readOne: async <R>(scope: Scope, statement: Statement<R>, params: Params = {}) => {
      const { prepared, columns } = compile(statement);
      const values = prepared.get(bind(statement, params, scope.workspaceId));
      return values === undefined ? undefined : (rowOf(columns, values) as R);
    },
    readSystem: async (statement, params = {}) => readRows(compile, statement, params, null),
  };
}
