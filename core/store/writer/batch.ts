// Runs the ops of one batch inside the open transaction, in their order, up to the first that fails.
import type { Hash } from 'node:crypto';
import { constraintOf } from '../engine-errors.ts';
import type { Value } from '../statement.ts';
import { asInteger } from '../values.ts';
import type { Prepare, Prepared } from './prepare.ts';
import {
  valueFromWire,
  valueToWire,
  type WireBatch,
  type WireOutcome,
  type WireRows,
  type WireValue,
} from './wire.ts';

/** What the batches of a group append to the event log. */
export interface Appended {
  /** The chain of the log head, over the appended events. */
  readonly chain: Hash;
  /** Workspaces that have new events. */
  readonly workspaces: Set<string>;
}

export type BatchOutcome = Exclude<WireOutcome, { ok: 'error' }>;

/**
 * What it changed is the caller's to undo where it fails, or throws.
 * @param appended is told of a batch that succeeded
 * @throws what libsql throws, but for broken constraints
 */
export function runBatch(prepare: Prepare, batch: WireBatch, appended: Appended): BatchOutcome {
  const returned: WireRows[] = [];
  const links: string[] = [];
  const workspaces: string[] = [];
  for (const [index, { statement, values, workspaceId, expectRows }] of batch.entries()) {
    const prepared = prepare(statement);
    let changed: number;
    try {
      changed = runOp(prepared, values.map(toBind), returned);
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
    links.push(JSON.stringify([values, returned[index]!]));
    if (workspaceId !== null) workspaces.push(workspaceId);
  }
  for (const link of links) appended.chain.update(link);
  for (const workspaceId of workspaces) appended.workspaces.add(workspaceId);
  return { ok: true, rows: returned };
}

/** Adds the rows that the op returned to `returned`. @returns how many it changed */
function runOp({ run, all, columns }: Prepared, values: Value[], returned: WireRows[]): number {
  if (columns === null) {
    returned.push(null);
    return run(values);
  }
  const rows = all(values).map((row) => row.map(valueToWire));
  returned.push({ columns, rows });
  return rows.length;
}

function toBind(value: WireValue): Value {
  return asInteger(valueFromWire(value));
}
