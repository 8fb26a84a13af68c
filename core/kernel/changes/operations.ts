// Parts that models and operations share: the mapping of fields to columns, the ops that write the row of an
// entity, and the change sets of a creation, an update and a deletion.
import { ApiError, notFound } from '../../platform/lib/errors/errors.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import {
  composedStatement,
  type SqlRow,
  type Statement,
  tenantStatement,
  type Value,
} from '../../platform/store/statement.ts';
import { type Op, type Scope, tenantOp } from '../../platform/store/store.ts';
import type { Context } from '../context.ts';
import type { ChangeSet, Entity, NewEntity } from './change.ts';
import { charactersOf, defineSource, frozen, type Dependency, type Source } from './sources.ts';
import type { EntityModel } from './model.ts';

/**
 * Mapping of one value. With `select` but no `column`, the value is computed on read and written by
 * `related`.
 */
export interface Column<T = unknown> {
  readonly column?: string;
  readonly select?: string;
  /** Field whose value is written, if not the mapped one. */
  readonly from?: string;
  read?(value: Value): unknown;
  write?(value: unknown): Value;
  /** Makes a computed value cacheable: its entities are not cached otherwise. */
  readonly cached?: {
    /** Other rows that the value depends on. */
    readonly dependencies: readonly Dependency[];
    /** Returns the value of an entity as a read returns it after the commit; undefined if only a read can tell. */
    settle(entity: never): unknown;
  };
  /** Phantom type of the value. */
  readonly type?: T;
}

export const plain = <T>(column: string): Column<T> => ({ column });

export const json = <T>(column: string): Column<T> => ({
  column,
  read: (value) => (value === null ? null : JSON.parse(String(value))),
  write: (value) => (value === null ? null : JSON.stringify(value)),
});

export const flag = (column: string): Column<boolean> => ({
  column,
  read: (value) => value === 1,
  write: (value) => (value ? 1 : 0),
});

/** Select list of some fields, and a reader of its rows. `id` is always included. */
export interface PickedFields {
  readonly select: string;
  read(row: SqlRow): object;
}

/** Maps the fields of an entity to the columns of its table, to read and write rows. */
export interface Columns<E extends Entity> extends PickedFields {
  read(row: SqlRow): E;
  /** Names of the columns that a write of a row sets. */
  readonly written: readonly string[];
  /** Returns the values to bind, by column; includes the id. */
  values(entity: E): Record<string, Value>;
  pick(names: readonly string[]): PickedFields;
  /**
   * Declares the rows as a source of the entity cache; null if a computed value is not cacheable.
   * @param assigned see `Source`
   */
  sourceIn(table: string, assigned: string | null): Source<E> | null;
}

interface ReadColumn {
  readonly name: string;
  readonly alias: string;
  readonly read?: Column['read'];
}

/** Compiles an object literal, which costs a third of filling an object column by column. */
function readerOf(plain: readonly string[], columns: readonly ReadColumn[]): (row: SqlRow) => object {
  const reads = columns.map(({ read }) => read);
  const parts = columns.map(({ name, alias, read }, index) => {
    const value = `row[${JSON.stringify(alias)}] ?? null`;
    return `${JSON.stringify(name)}: ${read ? `reads[${index}](${value})` : value}`;
  });
  const literal = [...plain.map((name) => `${name}: row.${name}`), ...parts].join(', ');
  // oxlint-disable-next-line typescript/no-implied-eval -- the names are quoted, and come from contracts
  return new Function('reads', `return (row) => ({ ${literal} });`)(reads) as (row: SqlRow) => object;
}

/**
 * @param bySql columns whose values an expression of the insert computes: they are written without a bound
 * value
 */
export function columnsOf<E extends Entity>(
  fields: Readonly<Record<string, string | Column>>,
  bySql: ReadonlySet<string>,
): Columns<E> {
  const all = Object.entries(fields).map(([name, field]) => {
    const column: Column = typeof field === 'string' ? { column: field } : field;
    return { name, ...column, alias: column.column ?? `x_${name}` };
  });
  const written = all.filter(({ column }) => column !== undefined);
  const bound = written.filter(({ alias }) => !bySql.has(alias));

  return {
    select: [
      'id',
      'version',
      ...all.map(({ select, alias }) => (select ? `${select} AS ${alias}` : alias)),
    ].join(', '),
    read: readerOf(['id', 'version'], all) as (row: SqlRow) => E,
    written: written.map(({ alias }) => alias),
    values(entity) {
      const values: Record<string, Value> = { id: entity.id };
      for (const { name, alias, from, write } of bound) {
        const value = entity[(from ?? name) as keyof E];
        values[alias] = write ? write(value) : (value as Value);
      }
      return values;
    },
    pick(names) {
      const some = all.filter(({ name }) => names.includes(name));
      return {
        select: ['id', ...some.map(({ alias }) => alias)].join(', '),
        read: readerOf(['id'], some),
      };
    },
    sourceIn: (table, assigned) => sourceOf<E>(table, all, { bySql, assigned }),
  };
}

interface MappedField extends Column {
  readonly name: string;
  /** Name of the column in rows that are read. */
  readonly alias: string;
}

function sourceOf<E extends Entity>(
  table: string,
  fields: readonly MappedField[],
  computing: Pick<Settling, 'bySql' | 'assigned'>,
): Source<E> | null {
  const computed = fields.filter(({ column }) => column === undefined);
  if (!computed.every(({ cached }) => cached)) return null;
  const columns = new Set(['id', 'version', ...fields.map(({ alias }) => alias)]);
  const isPlain = ({ alias, from, cached, read, write }: MappedField): boolean =>
    !(computing.bySql.has(alias) || from || cached || read || write);
  const settling = {
    ...computing,
    // A copy of a full template has the properties of an entity that was read, in their order.
    empty: Object.fromEntries(
      ['id', 'version', ...fields.map(({ name }) => name)].map((name) => [name, null]),
    ),
    plain: fields.filter(isPlain).map(({ name }) => name),
    others: fields.filter((field) => !isPlain(field)),
  };
  return defineSource<E>(
    [{ table, key: 'id', columns }, ...computed.flatMap(({ cached }) => cached!.dependencies)],
    {
      assigned: computing.assigned,
      settle: (left) => settled(left, settling) as E | undefined,
      characters: charactersReader(fields) as (entity: E) => number,
    },
  );
}

/** Compiles the reads of all fields, which cost a fraction of an enumeration. */
function charactersReader(fields: readonly MappedField[]): (entity: object) => number {
  const parts = fields.map(({ name }) => `deep(entity[${JSON.stringify(name)}])`);
  // oxlint-disable-next-line typescript/no-implied-eval -- the names are quoted, and come from contracts
  return new Function('deep', `return (entity) => ${parts.join(' + ') || '0'};`)(charactersOf) as (
    entity: object,
  ) => number;
}

interface Settling {
  readonly empty: object;
  /** Fields whose column has their value. */
  readonly plain: readonly string[];
  readonly others: readonly MappedField[];
  readonly bySql: ReadonlySet<string>;
  readonly assigned: string | null;
}

/** Returns the entity as a read of its row finds it; undefined if the change lacks a value that the database computes. */
function settled(left: Entity, settling: Settling): Entity | undefined {
  const { empty, plain, others } = settling;
  const given = left as object as Readonly<Record<string, unknown>>;
  const entity: Record<string, unknown> = { ...empty, id: left.id, version: left.version };
  for (const name of plain) {
    const value = given[name];
    if (value === undefined || isChanged(value)) return undefined;
    entity[name] = value;
  }
  for (const field of others) {
    const value = settledValue(left, field, settling);
    if (value === undefined) return undefined;
    entity[field.name] = frozen(value);
  }
  return Object.freeze(entity) as object as Entity;
}

function settledValue(
  left: Entity,
  { name, alias, from, cached, read, write }: MappedField,
  { bySql, assigned }: Settling,
): unknown {
  if (cached) return cached.settle(left as never);
  const field = left[(from ?? name) as keyof Entity] as unknown;
  // An expression of the insert has computed the value of a new row.
  if (bySql.has(alias) && (name === assigned ? field === null : left.version === 1)) return undefined;
  const stored = write ? write(field) : field;
  if (stored === undefined || isChanged(stored)) return undefined;
  return read ? read(stored as Value) : stored;
}

/** True for a text that SQLite changes: it replaces surrogates without a pair. */
const isChanged = (value: unknown): boolean => typeof value === 'string' && !value.isWellFormed();

/** Writes the row of an entity: an insert of all columns, or an update of the changed columns. */
export interface EntityOps<E extends Entity> {
  insert(scope: Scope, entity: E): Op;
  /** Fails if the row is no longer at the version of `before`. */
  update(scope: Scope, before: E, after: E): Op;
}

/**
 * @param expressions values that SQL computes on insert: column → expression over the parameters of the
 * statement
 */
export function entityOpsOf<E extends Entity>(
  table: string,
  columns: Columns<E>,
  expressions: Readonly<Record<string, string>>,
): EntityOps<E> {
  const { written, values } = columns;
  const insertRow = tenantStatement(
    `${table}.insert`,
    `INSERT INTO ${table} (workspace_id, id, version, ${written.join(', ')})
     VALUES (:ws, :id, 1, ${written.map((column) => expressions[column] ?? `:${column}`).join(', ')})`,
  );
  const known = new Set(['ws', 'id', ...written.filter((column) => !(column in expressions))]);
  // Parameters that only the expressions use are named like fields of the entity.
  const insertOnly = insertRow.params.filter((name) => !known.has(name));
  const updateRow = updatesOf(table);

  return {
    insert(scope, entity) {
      const params = values(entity);
      for (const name of insertOnly) params[name] = entity[name as keyof E] as Value;
      return tenantOp(scope, insertRow, params);
    },
    update(scope, before, after) {
      const [old, params] = [values(before), values(after)];
      const changed = Object.keys(params).filter((column) => params[column] !== old[column]);
      const moved = Object.fromEntries(changed.map((column) => [column, params[column]!]));
      const bound = { id: after.id, base: before.version, ...moved };
      return tenantOp(scope, updateRow(changed), bound, { expectRows: 1 });
    },
  };
}

/**
 * Updates only changed columns, so that SQLite skips the other indexes. The cache has one entry per set of
 * columns.
 */
function updatesOf(table: string): (changed: readonly string[]) => Statement {
  const statements = new Map<string, Statement>();
  return (changed) => {
    const key = changed.join();
    const known = statements.get(key);
    if (known) return known;
    const statement: Statement = composedStatement(
      `UPDATE ${table} SET version = version + 1${changed.map((column) => `, ${column} = :${column}`).join('')}
       WHERE workspace_id = :ws AND id = :id AND version = :base`,
    );
    statements.set(key, statement);
    return statement;
  };
}

/** @throws ApiError not_found, also for a soft-deleted object */
export async function getEntity<E extends Entity, W>(
  ctx: Context,
  model: EntityModel<E, W>,
  id: string,
): Promise<E> {
  const entity = await model.find(ctx, id);
  if (!entity || ('deletedAt' in entity && entity.deletedAt !== null)) throw notFound();
  return entity;
}

/** @throws ApiError precondition_failed */
export function requireVersion(entity: Entity, ifMatch: number | null): void {
  if (ifMatch !== null && ifMatch !== entity.version)
    throw new ApiError(
      'precondition_failed',
      `The object is at version ${entity.version}. Read it again, then retry.`,
    );
}

/**
 * Returns the change set of an update, empty if the patch changes nothing; the response is the whole object.
 */
export function updated<E extends Entity, W>(
  ctx: Context,
  model: EntityModel<E, W>,
  before: E,
  patch: Partial<E>,
  ifMatch: number | null,
): ChangeSet<W> {
  requireVersion(before, ifMatch);
  const change = model.update(before, patch, ctx.nowMs());
  return change
    ? { changes: [change], body: model.toResponse(change.after, ctx) }
    : { changes: [], body: model.toResponse(before, ctx) };
}

/** Returns the change set of a creation; its response is 201 with the whole object and its URL. */
export function created<E extends Entity, W>(
  ctx: Context,
  model: EntityModel<E, W>,
  entity: NewEntity<E>,
  path: string,
): ChangeSet<W> {
  const change = model.create(entity);
  return {
    changes: [change],
    body: model.toResponse(change.after, ctx),
    status: 201,
    location: `${ctx.baseUrl}/api/v1/${path}/${change.id}`,
  };
}

/** Returns the change set of a soft deletion; its response is 204. */
export function removed<E extends Entity, W>(
  ctx: Context,
  model: EntityModel<E, W>,
  before: E,
  ifMatch: number | null,
): ChangeSet<undefined> {
  requireVersion(before, ifMatch);
  if (!model.retainsDeleted) throw new Error(`A ${model.name} cannot be deleted.`);
  const change = model.update(before, { deletedAt: ctx.nowMs() } as object as Partial<E>, ctx.nowMs());
  return { changes: change ? [change] : [], body: undefined };
}

let cachedDay = { day: Number.NaN, text: '' };

/** Formats a stored time as ISO 8601 in UTC. */
export function isoTime(ms: number): string;
export function isoTime(ms: number | null): string | null;
export function isoTime(ms: number | null): string | null {
  if (ms === null) return null;
  // Lists show two times per row, mostly of few days, so the text of the last day is cached.
  const day = Math.floor(ms / dayMs);
  if (day !== cachedDay.day) cachedDay = { day, text: new Date(ms).toISOString().slice(0, 11) };
  const rest = ms - day * dayMs;
  const two = (value: number): string => (value < 10 ? `0${value}` : `${value}`);
  const millis = rest % 1000;
  return `${cachedDay.text}${two(Math.floor(rest / 3_600_000))}:${two(Math.floor(rest / 60_000) % 60)}:${two(Math.floor(rest / 1000) % 60)}.${millis < 10 ? '00' : millis < 100 ? '0' : ''}${millis}Z`;
}
