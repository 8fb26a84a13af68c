// The statements of the writer's connection, prepared when they first run. What may be sent here was judged by the tenant guard.
import type Database from 'libsql';
import { LRUCache } from 'lru-cache';
import type { Value } from '../statement.ts';
import type { WireStatement } from './wire.ts';

const composedMax = 500;

export interface Prepared {
  readonly name: string;
  readonly chained: boolean;
  /** Null where it returns no rows. */
  readonly columns: readonly string[] | null;
  all(values: readonly Value[]): Value[][];
  /** @returns how many rows it changed */
  run(values: readonly Value[]): number;
}

/** @throws what libsql throws for a text that it cannot read */
export type Prepare = (statement: number | WireStatement) => Prepared;

export function createPrepare(db: Database.Database): {
  prepare: Prepare;
  /** Their numbers go on from those that were learned before. */
  learn(statements: readonly WireStatement[]): void;
} {
  const known: { readonly statement: WireStatement; prepared: Prepared | null }[] = [];
  const composed = new LRUCache<string, Prepared>({ max: composedMax });
  return {
    learn(statements) {
      for (const statement of statements) known.push({ statement, prepared: null });
    },
    prepare(statement) {
      if (typeof statement === 'number') {
        const entry = known[statement];
        if (!entry) throw new Error(`Nobody told the writer of statement ${statement}.`);
        return (entry.prepared ??= prepareOn(db, entry.statement));
      }
      const made = composed.get(statement.text) ?? prepareOn(db, statement);
      composed.set(statement.text, made);
      return made;
    },
  };
}

function prepareOn(db: Database.Database, { name, text, returnsRows, chained }: WireStatement): Prepared {
  const prepared = db.prepare(text);
  if (returnsRows) prepared.raw(true);
  return {
    name,
    chained,
    columns: returnsRows ? prepared.columns().map((column) => column.name) : null,
    all: (values) => prepared.all(values) as Value[][],
    run: (values) => prepared.run(values).changes,
  };
}
