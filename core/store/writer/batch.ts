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

export type BatchOutcome = Exclude<WireOutcome, { ok: 'error' }>;

/**
 * What it changed is the caller's to undo where it fails, or throws.
 * @param chain of the log head: grows by what a batch that succeeded has appended to the event log
 * @throws what libsql throws, but for broken constraints
 */
export function runBatch(prepare: Prepare, batch: WireBatch, chain: Hash): BatchOutcome {
  const returned: WireRows[] = [];
  const links: string[] = [];
  for (const [index, { statement, values, expectRows }] of batch.entries()) {
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
    if (prepared.chained) links.push(JSON.stringify([values, returned[index]!]));
  }
  for (const link of links) chain.update(link);
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
