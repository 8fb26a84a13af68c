// Runs the ops of one batch in order inside the open transaction, up to the first failure.
import type { Hash } from 'node:crypto';
import { constraintOf } from '../engine/engine-errors.ts';
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
 * Does not roll back: the caller must undo the changes of a batch that fails or throws.
 * @param chain hash of the log head, extended by the event log entries of a successful batch
 * @throws errors of libsql, except constraint violations
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

/** Adds the returned rows to `returned`. @returns the number of changed rows */
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
