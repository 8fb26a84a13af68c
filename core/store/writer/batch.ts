// Runs the ops of one batch inside the open transaction, in their order, up to the first that fails.
import type { Hash } from 'node:crypto';
import { constraintOf } from '../engine-errors.ts';
import type { Row, Value } from '../statement.ts';
import type { CommitOutcome } from '../store.ts';
import { rowOf } from '../values.ts';
import type { Prepare, Prepared } from './prepare.ts';
import type { WireBatch } from './wire.ts';

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
 * @throws what libsql throws, but for broken constraints
 */
export function runBatch(prepare: Prepare, batch: WireBatch, appended: Appended): CommitOutcome {
  const rows: Row[][] = [];
  const links: string[] = [];
  const workspaces: string[] = [];
  for (const [index, { statement, values, workspaceId, expectRows }] of batch.entries()) {
    const prepared = prepare(statement);
    let changed: number;
    try {
      changed = runOp(prepared, values, rows);
    } catch (error) {
      const reason = constraintOf(error);
      if (!reason) throw error;
      return { ok: false, op: index, reason, message: String((error as Error).message) };
    }
    if (expectRows !== null && changed !== expectRows) {
      const message = `${prepared.name} changed ${changed} rows`;
      return { ok: false, op: index, reason: 'lost_race', message };
    }
    if (!prepared.chained) continue;
    links.push(linkOf(values, rows[index]!));
    if (workspaceId !== null) workspaces.push(workspaceId);
  }
  for (const link of links) appended.chain.update(link);
  for (const workspaceId of workspaces) appended.workspaces.add(workspaceId);
  return { ok: true, rows };
}

/** Adds the rows that the op returned to `rows`. @returns how many it changed */
function runOp({ run, all, columns }: Prepared, values: readonly Value[], rows: Row[][]): number {
  if (columns === null) {
    rows.push([]);
    return run(values);
  }
  const returned = all(values).map((row) => rowOf(columns, row));
  rows.push(returned);
  return returned.length;
}

function linkOf(values: readonly Value[], rows: readonly Row[]): string {
  return JSON.stringify([...values, rows], (_, value) => (typeof value === 'bigint' ? Number(value) : value));
}
