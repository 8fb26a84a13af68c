// Checks of the columns of exported rows, derived from the database schema, the contracts and `tables.ts`.
import type { TSchema } from 'typebox';
import type { Field } from '../../kernel/contract/field.ts';
import type { Contract } from '../../kernel/contract/contract.ts';
import { actorParts, isReference, storedName } from '../../kernel/contract/schemas.ts';
import { snake } from '../../platform/lib/text/words.ts';
import { columnsAt, latestSchema, type ColumnFacts } from '../../platform/store/engine/looking.ts';
import {
  day,
  flag,
  id,
  integer,
  json,
  moment,
  oneOf,
  pattern,
  real,
  text,
  type ExchangeCell,
} from './cells.ts';
import type { RowLine } from './lines.ts';
import { taken, type Table } from './tables.ts';

/** Returns the faults of a row, one sentence each; empty for a valid row. */
export type CheckRow = (line: RowLine) => readonly string[];

/** @param schema schema version of the file; its rows must have exactly the columns of that version */
export function rowChecks(schema: number): CheckRow {
  const now = columnsAt(latestSchema);
  const then = schema === latestSchema ? now : columnsAt(schema);
  const checks = new Map(
    taken.map((table) => [table.name, checkOf(table, now.get(table.name) ?? [], then.get(table.name) ?? [])]),
  );
  return ({ table, row }) =>
    checks.get(table)?.(row) ?? [
      `The table ${JSON.stringify(String(table)).slice(0, 60)} is not part of an exported workspace. Remove its rows.`,
    ];
}

const quotedMax = 60;

function checkOf(
  table: Table,
  now: readonly ColumnFacts[],
  then: readonly ColumnFacts[],
): (row: RowLine['row']) => readonly string[] {
  const known = new Map(now.map((facts) => [facts.name, facts]));
  const names = then
    .map(({ name }) => name)
    .filter((name) => name !== 'workspace_id' && (table.columns?.includes(name) ?? name !== 'packed'));
  const wanted = new Map(names.map((name) => [name, cellFor(table, known.get(name))]));
  return (row) => {
    if (row === null || typeof row !== 'object' || Array.isArray(row))
      return [`A row of ${table.name} must be an object of columns.`];
    const strange = Object.keys(row).filter((name) => !wanted.has(name));
    const wrong = [...wanted].flatMap(([name, cell]) => {
      if (!Object.hasOwn(row, name)) return [`${table.name}.${name} is missing.`];
      const fault = cell(row[name]);
      return fault === null
        ? []
        : [`${table.name}.${name} is ${JSON.stringify(row[name]).slice(0, quotedMax)}: it ${fault}.`];
    });
    return [
      ...strange.map((name) => `${table.name} has no column ${JSON.stringify(name).slice(0, quotedMax)}.`),
      ...wrong,
    ];
  };
}

/** Accepts any value for a removed column, because the insert skips it. */
function cellFor(table: Table, facts: ColumnFacts | undefined): ExchangeCell {
  if (!facts) return () => null;
  const cell =
    table.cells?.[facts.name] ?? cellOfContract(table.contract, facts.name) ?? cellOfName(table, facts);
  if (!cell) throw new Error(`Describe ${table.name}.${facts.name} in core/features/export/tables.ts.`);
  return (value) => (value === null && facts.required === 0 ? null : cell(value));
}

function cellOfContract(contract: Contract | undefined, column: string): ExchangeCell | undefined {
  for (const [name, field] of Object.entries(contract?.fields ?? {})) {
    if (field.options.computed) continue;
    const [kindColumn, ...others] = actorParts(name).map(snake);
    if (field.type === 'actor') {
      if (column === kindColumn) return oneOf('user', 'plugin', 'system');
      if (others.includes(column)) return text(1_000);
    } else if (column === snake(storedName(name, field)) + (field.type === 'json' ? '_json' : ''))
      return cellOfField(field);
  }
  return undefined;
}

function cellOfField(field: Field): ExchangeCell {
  const { type, input, response } = field;
  if (isReference(field)) return id(field.to.id);
  if (type === 'flag') return flag;
  if (type === 'time') return moment;
  if (type === 'day') return day;
  if (type === 'json') return json(input, response);
  const { pattern: source, maxLength } = { ...input, ...response } as {
    pattern?: string;
    maxLength?: number;
  };
  if (type === 'choice') return oneOf(...(response as TSchema & { enum: string[] }).enum);
  if (type === 'number') return cellOfNumber(response);
  const isBounded = text(maxLength);
  // The response schema of `text` has no pattern, so that older values stay readable; that of `string` has.
  const shape = 'pattern' in response && type === 'text' && source !== undefined ? pattern(source) : null;
  return (value) => isBounded(value) ?? shape?.(value) ?? null;
}

function cellOfNumber(schema: TSchema): ExchangeCell {
  const { type, minimum, maximum } = schema as { type?: string; minimum?: number; maximum?: number };
  if (type === 'integer') return integer(minimum ?? Number.MIN_SAFE_INTEGER, maximum);
  return (value) =>
    real(value) ??
    (Number(value) < (minimum ?? -Infinity) || Number(value) > (maximum ?? Infinity)
      ? `must be from ${minimum ?? 'any number'} to ${maximum ?? 'any number'}`
      : null);
}

function cellOfName(
  { contract, name: table }: Table,
  { name, type, refersTo }: ColumnFacts,
): ExchangeCell | undefined {
  const target = taken.find((other) => other.name === refersTo);
  if (target?.contract) return id(target.contract.id);
  if (name === 'id' && contract) return id(contract.id);
  if (name === 'version') return integer(1);
  if (name.endsWith('_at') && type === 'INTEGER') return moment;
  const referenced = taken.find(({ contract: of }) => of && name === `${snake(of.name)}_id`);
  return referenced?.contract && table !== 'events' ? id(referenced.contract.id) : undefined;
}
