// Reads of the embedded engine: on the event loop if the statement is known to be cheap there, else in the reader pool.
import { threadMs } from '../lib/cpu.ts';
import type { Compile } from './compile.ts';
import { concernsStore, faultOf, showsDamage } from './engine-errors.ts';
import type { DamageGuard } from './integrity/damage-guard.ts';
import type { Readers } from './readers.ts';
import type { Params, Statement } from './statement.ts';
import { StoreError, type Scope, type Store } from './store.ts';
import { bind, rowOf } from './values.ts';

/** Runs synchronously on the event loop. */
export function readRows<R>(
  compile: Compile,
  statement: Statement<R>,
  params: Params,
  workspaceId: string | null,
): R[] {
  const { prepared, columns } = compile(statement);
  return prepared.all(bind(statement, params, workspaceId)).map((values) => rowOf(columns, values)) as R[];
}

export interface ReadsWith {
  readonly compile: Compile;
  readonly readers: Readers;
  readonly guard: DamageGuard;
  /** Resolves once the loop has processed every commit that may have completed before the call. */
  commitsProcessed(): Promise<void>;
  /** Called when SQLite finds content that it did not write. */
  onDamage(): void;
}

export function createReads({
  compile,
  readers,
  guard,
  commitsProcessed,
  onDamage,
}: ReadsWith): Pick<Store, 'read' | 'readOne' | 'readSystem'> {
  /** Maps engine errors to StoreError, so that callers can tell store faults from invalid requests. @throws StoreError */
  const mapErrors = async <T>(statement: Statement<unknown>, work: () => T | Promise<T>): Promise<T> => {
    try {
      guard.check(statement.text);
      return await work();
    } catch (error) {
      if (showsDamage(error instanceof StoreError ? error.cause : error)) onDamage();
      throw concernsStore(error) ? faultOf(error) : error;
    }
  };
  const read = async <R>(scope: Scope, statement: Statement<R>, params: Params): Promise<R[]> => {
    const { pace, columns } = compile(statement);
    if (!pace?.isSlow(scope.workspaceId)) {
      const before = pace ? threadMs() : 0;
      const selected = readRows(compile, statement, params, scope.workspaceId);
      if (pace) pace.took(scope.workspaceId, threadMs() - before);
      return selected;
    }
    const rows = await readers.read(scope, statement.text, bind(statement, params, scope.workspaceId));
    // The rows may include a commit that the caches and the loop's connection do not reflect yet.
    await commitsProcessed();
    return rows.map((values) => rowOf(columns, values)) as R[];
  };
  return {
    read: (scope, statement, params = {}) => mapErrors(statement, () => read(scope, statement, params)),
    readOne: <R>(scope: Scope, statement: Statement<R>, params: Params = {}) =>
      mapErrors(statement, () => {
        const { prepared, columns } = compile(statement);
        const values = prepared.get(bind(statement, params, scope.workspaceId));
        return values === undefined ? undefined : (rowOf(columns, values) as R);
      }),
    readSystem: (statement, params = {}) =>
      mapErrors(statement, () => readRows(compile, statement, params, null)),
  };
}
