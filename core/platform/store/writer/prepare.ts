// Prepares the statements of the writer's connection at first use. The tenant guard checked them before they were sent.
import type Database from 'libsql';
import { LRUCache } from 'lru-cache';
import type { Value } from '../statement.ts';
import type { WireStatement } from './wire.ts';

const composedMax = 500;

export interface Prepared {
  readonly name: string;
  readonly chained: boolean;
  /** Column names; null if the statement returns no rows. */
  readonly columns: readonly string[] | null;
  all(values: readonly Value[]): Value[][];
  /** @returns the number of changed rows */
  run(values: readonly Value[]): number;
}

/** @throws libsql's error for invalid SQL */
export type Prepare = (statement: number | WireStatement) => Prepared;

export function createPrepare(db: Database.Database): {
  prepare: Prepare;
  /** Registers statements; numbering continues from earlier ones. */
  register(statements: readonly WireStatement[]): void;
} {
  const known: { readonly statement: WireStatement; prepared: Prepared | null }[] = [];
  const composed = new LRUCache<string, Prepared>({ max: composedMax });
  return {
    register(statements) {
      for (const statement of statements) known.push({ statement, prepared: null });
    },
    prepare(statement) {
      if (typeof statement === 'number') {
        const entry = known[statement];
        if (!entry) throw new Error(`The writer has no statement ${statement}.`);
        return (entry.prepared ??= prepareOn(db, entry.statement));
      }
      const created = composed.get(statement.text) ?? prepareOn(db, statement);
      composed.set(statement.text, created);
      return created;
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
