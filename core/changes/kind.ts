// A kind says how one sort of entity is stored, shown and announced. It is the only maker of changes, and a change without
// an event fails here, so a write that nobody hears of cannot be expressed. Exempt are the machinery's own rows.
import type { Context, View } from '../context.ts';
import type { EventType } from '../events/catalogue.ts';
import { learnAtCommit, type Learning } from '../events/learning.ts';
import {
  composedStatement,
  tenantStatement,
  type Row,
  type Statement,
  type Value,
} from '../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../store/store.ts';
import { previousValues, sameValue, type Change, type Entity, type EventDraft } from './change.ts';

/** How a value lies in the table. `select` alone (no `column`) is computed on reading and written by `related`. */
export interface Column<T = unknown> {
  readonly column?: string;
  readonly select?: string;
  read?(value: Value): unknown;
  write?(value: unknown): Value;
  /** Phantom: the type of the value. */
  readonly type?: T;
}

/** Kept as it is. */
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

export interface KindSpec<E extends Entity, W extends Readonly<Record<string, unknown>>> {
  readonly name: string;
  readonly table: string;
  /** Every field of the entity but id and version, with its column. */
  readonly fields: { readonly [F in Exclude<keyof E, 'id' | 'version'>]: string | Column };
  wire(entity: E, view: View): W;
  /** The events a change means, in order. Absent for the machinery's own rows, which must say why. */
  readonly events: ((before: E | null, after: E) => readonly EventType[]) | { readonly machinery: string };
  /** The object whose history its events belong to. */
  subjectId?(entity: E): string | null;
  /** The id of the team it belongs to, and the condition over the table's columns that this is one of a list. */
  readonly team?: { of(entity: E): string; isIn(list: string): string };
  /** What its events learn at commit, and of which object (its id), while the entity is shown without it. */
  readonly learns?: { readonly what: Learning; of(entity: E): string | null };
  /** Values computed by SQL on insert: column → expression over the statement's parameters. */
  readonly insertExpressions?: Readonly<Record<string, string>>;
  /** Writes beside the row itself: join rows, counters. `first` go before the row, `last` after it. */
  related?(scope: Scope, before: E | null, after: E): { first?: Op[]; last?: Op[] };
}

export interface Kind<E extends Entity, W> {
  readonly name: string;
  readonly table: string;
  /** The select list, its columns unaliased but for computed ones. */
  readonly select: string;
  /** Deleted rows stay, with the time in `deleted_at`. */
  readonly keepsDeleted: boolean;
  /** The condition that its team is one of a list; undefined where it belongs to none. */
  readonly isOfTeamIn: ((list: string) => string) | undefined;
  fromRow(row: Row): E;
  /** Some of its fields: their select list, and how a row of that is read. `id` is always among them. */
  pick(names: readonly string[]): PickedFields;
  wire(entity: E, view: View): W;
  /** By id, staged changes included; nothing where the caller does not see its team. */
  find(ctx: Context, id: string): Promise<E | undefined>;
  create(entity: Omit<E, 'version'>): Change & { readonly after: E };
  /** Null when the patch changes nothing: no version, no event. `updatedAt` moves along where the kind has it. */
  update(before: E, patch: Partial<E>, nowMs: number): (Change & { readonly after: E }) | null;
}

export interface PickedFields {
  readonly select: string;
  read(row: Row): object;
}

/** A kind of whichever entities. */
export type AnyKind = Pick<Kind<never, unknown>, 'name' | 'table' | 'keepsDeleted' | 'pick'>;

const unversioned = new Set(['id', 'version', 'updatedAt']);

export function defineKind<E extends Entity, W extends Readonly<Record<string, unknown>>>(
  spec: KindSpec<E, W>,
): Kind<E, W> {
  if (spec.learns) learnAtCommit(spec.name, spec.learns.what);
  const fields = Object.entries<string | Column>(spec.fields).map(([name, field]) => {
    const plain = typeof field === 'string' ? { column: field } : field;
    return { name, ...plain, alias: plain.column ?? `x_${name}` };
  });
  const written = fields.filter((field) => field.column !== undefined);
  const select = [
    'id',
    'version',
    ...fields.map((field) => (field.select ? `${field.select} AS ${field.alias}` : field.alias)),
  ].join(', ');
  const expressions = spec.insertExpressions ?? {};
  const stored = written.filter((field) => !(field.alias in expressions));
  const columns = written.map((field) => field.alias);
  const bound = new Set(['ws', 'id', ...stored.map((field) => field.alias)]);
  /** Parameters that only the insert's expressions use, named as fields of the entity. */
  const insertOnly = Object.values(expressions)
    .flatMap((expression) => [...expression.matchAll(/:(\w+)/g)].map((match) => match[1]!))
    .filter((name) => !bound.has(name));

  const findRow = tenantStatement<Row>(
    `${spec.table}.find`,
    `SELECT ${select} FROM ${spec.table} WHERE workspace_id = :ws AND id = :id`,
  );
  const insertRow = tenantStatement(
    `${spec.table}.insert`,
    `INSERT INTO ${spec.table} (workspace_id, id, version, ${columns.join(', ')})
     VALUES (:ws, :id, 1, ${columns.map((column) => expressions[column] ?? `:${column}`).join(', ')})`,
  );
  /** Only the columns that change, so that SQLite leaves the indexes of the others alone. */
  const updates = new Map<string, Statement>();
  const updateOf = (changed: readonly string[]): Statement => {
    const key = changed.join();
    const known = updates.get(key);
    if (known) return known;
    const made: Statement = composedStatement(
      `UPDATE ${spec.table} SET version = version + 1${changed.map((column) => `, ${column} = :${column}`).join('')}
       WHERE workspace_id = :ws AND id = :id AND version = :base`,
    );
    updates.set(key, made);
    return made;
  };

  const values = (entity: E): Record<string, Value> => {
    const params: Record<string, Value> = { id: entity.id };
    for (const field of stored) {
      const value = entity[field.name as keyof E];
      params[field.alias] = field.write ? field.write(value) : (value as Value);
    }
    return params;
  };

  const updateOp = (
    scope: Scope,
    old: Record<string, Value>,
    params: Record<string, Value>,
    base: number,
  ): Op => {
    const changed = Object.keys(params).filter((column) => params[column] !== old[column]);
    const moved = Object.fromEntries(changed.map((column) => [column, params[column]!]));
    return tenantOp(scope, updateOf(changed), { id: params.id!, base, ...moved }, { expectRows: 1 });
  };

  const makeChange = (before: E | null, after: E): Change & { readonly after: E } => ({
    kind: spec.name,
    id: after.id,
    before,
    after,
    baseVersion: before?.version ?? null,
    isSilent: typeof spec.events !== 'function',
    ops(scope) {
      const { first = [], last = [] } = spec.related?.(scope, before, after) ?? {};
      const params = values(after);
      const row = before
        ? updateOp(scope, values(before), params, before.version)
        : tenantOp(scope, insertRow, insertParams(after, params));
      return [...first, row, ...last];
    },
    events(view) {
      if (typeof spec.events !== 'function') return [];
      const types = spec.events(before, after);
      if (types.length === 0) throw new Error(`A change of ${spec.name} ${after.id} derives no event.`);
      const shown = spec.wire(after, view);
      const data = before ? { ...shown, previous: previousValues(spec.wire(before, view), shown) } : shown;
      const draft = (type: EventType): EventDraft => ({
        type,
        entityKind: spec.name,
        entityId: after.id,
        subjectId: spec.subjectId?.(after) ?? null,
        learnsOf: spec.learns?.of(after) ?? null,
        data,
      });
      return types.map(draft);
    },
    ...(spec.team && {
      isOfTeams: (ids) => [before ?? after, after].every((entity) => ids.has(spec.team!.of(entity))),
    }),
    followedBy(later) {
      if (later.kind !== spec.name || later.id !== after.id)
        throw new Error('Only changes of one entity follow each other.');
      return makeChange(before, { ...(later.after as E), version: after.version });
    },
  });

  const insertParams = (entity: E, params: Record<string, Value>): Record<string, Value> => {
    for (const name of insertOnly) params[name] = entity[name as keyof E] as Value;
    return params;
  };

  const readInto = (entity: Record<string, unknown>, row: Row, some: typeof fields): object => {
    for (const { name, alias, read } of some) {
      const value = row[alias] ?? null;
      entity[name] = read ? read(value) : value;
    }
    return entity;
  };

  const fromRow = (row: Row): E => readInto({ id: row.id, version: row.version }, row, fields) as E;

  return {
    name: spec.name,
    table: spec.table,
    select,
    keepsDeleted: 'deletedAt' in spec.fields,
    isOfTeamIn: spec.team?.isIn,
    fromRow,
    pick(names) {
      const some = fields.filter(({ name }) => names.includes(name));
      return {
        select: ['id', ...some.map(({ alias }) => alias)].join(', '),
        read: (row) => readInto({ id: row.id }, row, some),
      };
    },
    wire: spec.wire,
    async find(ctx, id) {
      const staged = ctx.staged?.find(spec.name, id) as E | undefined;
      const row = staged ? undefined : await ctx.store.readOne(ctx.scope, findRow, { id });
      const found = staged ?? (row && fromRow(row));
      const hidden = found && ctx.visibleTeams && spec.team && !ctx.visibleTeams.has(spec.team.of(found));
      return hidden ? undefined : found;
    },
    create: (entity) => makeChange(null, { ...entity, version: 1 } as E),
    update(before, patch, nowMs) {
      const moved = Object.keys(patch).some(
        (name) => !unversioned.has(name) && !sameValue(before[name as keyof E], patch[name as keyof E]),
      );
      if (!moved) return null;
      const touched = 'updatedAt' in before ? { updatedAt: nowMs } : {};
      return makeChange(before, { ...before, ...patch, ...touched, version: before.version + 1 });
    },
  };
}
