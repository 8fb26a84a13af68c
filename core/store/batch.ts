// Runs the ops of one batch inside the open transaction, in their order, up to the first that fails.
import type { Hash } from 'node:crypto';
import { rowOf, type Compile } from './compile.ts';
import { constraintOf } from './engine-errors.ts';
import type { Row, Value } from './statement.ts';
import type { CommitOutcome, Op } from './store.ts';
import { bind } from './values.ts';

/** What the batches of a group append to the event log. */
export interface Appended {
  /** The chain of the log head, over the appended events. */
  readonly chain: Hash;
  /** Workspaces that have new events. */
  readonly workspaces: Set<string>;
}

/**
 * What it changed is the caller's to undo where it fails, or throws.
 * @param appended is told of a batch that succeeded
 * @throws what libsql throws, but for broken constraints, and Error for values that cannot be bound
 */
export function runBatch(compile: Compile, ops: readonly Op[], appended: Appended): CommitOutcome {
  const rows: Row[][] = [];
  const links: string[] = [];
  const workspaces: string[] = [];
  for (let index = 0; index < ops.length; index++) {
    const { statement, params, scope, expectRows } = ops[index]!;
    const values = bind(statement, params, scope?.workspaceId ?? null);
    let changed: number;
    try {
      changed = runOp(compile, ops[index]!, values, rows);
    } catch (error) {
      const reason = constraintOf(error);
      if (!reason) throw error;
      return { ok: false, op: index, reason, message: String((error as Error).message) };
    }
    if (expectRows !== undefined && changed !== expectRows) {
      const message = `${statement.name} changed ${changed} rows`;
      return { ok: false, op: index, reason: 'lost_race', message };
    }
    if (!statement.chained) continue;
    links.push(linkOf(values, rows[index]!));
    if (scope) workspaces.push(scope.workspaceId);
  }
  for (const link of links) appended.chain.update(link);
  for (const workspaceId of workspaces) appended.workspaces.add(workspaceId);
  return { ok: true, rows };
}

/** Adds the rows that the op returned to `rows`. @returns how many it changed */
function runOp(compile: Compile, { statement }: Op, values: Value[], rows: Row[][]): number {
  const { prepared, columns } = compile(statement);
  if (!statement.returnsRows) {
    rows.push([]);
    return prepared.run(values).changes;
  }
  const returned = prepared.all(values).map((row) => rowOf(columns, row));
  rows.push(returned);
  return returned.length;
}

function linkOf(values: readonly Value[], rows: readonly Row[]): string {
  return JSON.stringify([...values, rows], (_, value) => (typeof value === 'bigint' ? Number(value) : value));
}
