// Encodes batches for the writer thread. A declared statement is sent once, then referred to by number. Values are checked here, so that an
// invalid one fails only its caller.
import type { Compile } from '../compile.ts';
import type { Statement } from '../statement.ts';
import type { Op } from '../store.ts';
import { inOrder } from '../values.ts';
import { valueToWire, type WireBatch, type WireGroup, type WireStatement } from './wire.ts';

export interface Encoder {
  /** @throws Error for a value that cannot be bound, or a statement that is not bound to its workspace */
  batch(ops: readonly Op[]): WireBatch;
  group(batches: readonly WireBatch[]): WireGroup;
}

export function createEncoder(compile: Compile): Encoder {
  const numbers = new Map<Statement<unknown>, number>();
  let unsent: WireStatement[] = [];

  const refer = (statement: Statement<unknown>): number | WireStatement => {
    if (statement.name === 'composed') return wireStatement(statement);
    const known = numbers.get(statement);
    if (known !== undefined) return known;
    const number = numbers.size;
    numbers.set(statement, number);
    unsent.push(wireStatement(statement));
    return number;
  };

  return {
    batch: (ops) =>
      ops.map(({ statement, params, scope, expectRows = null }) => {
        compile(statement);
        const workspaceId = scope?.workspaceId ?? null;
        const values = inOrder(statement, params, workspaceId, valueToWire);
        return { statement: refer(statement), values, expectRows };
      }),
    group(batches) {
      const statements = unsent;
      unsent = [];
      return { statements, batches };
    },
  };
}

function wireStatement({ name, text, returnsRows, chained }: Statement<unknown>): WireStatement {
  return { name, text, returnsRows, chained };
}
