// Finds the rows of an entity, one or many, by id or alias. Staged changes of a run are included, a run may
// read at a past moment, and objects of teams that the caller cannot see are not found. Also guards manual
// orders, and records reads for the read set of a run.
import type { Condition } from '../../platform/store/page.ts';
import { type SqlRow, type Statement, tenantStatement, type Value } from '../../platform/store/statement.ts';
import { type Op, type Scope, tenantOp } from '../../platform/store/store.ts';
import type { Context, Directory, View } from '../context.ts';
import type { Change, Entity, OrderVersion } from './change.ts';
import type { Columns } from './operations.ts';
import { asReadStatement, type ReadSet } from './reads.ts';
import { defineSource, type Source } from './sources.ts';
import { orderVersionTable } from '../tables.ts';

/** Unique name of an object other than its id, found through a unique index. */
export interface Alias {
  readonly columns: readonly string[];
  /** Values of those columns; null if no object can have them; undefined if the text is not an alias. */
  values(name: string, view: View): Readonly<Record<string, Value>> | null | undefined;
  /**
   * Table of former names, searched if no current name matches. It has the same columns; `id` is its id
   * column.
   */
  readonly former?: { readonly table: string; readonly id: string };
}

interface FindOptions<E extends Entity> {
  readonly name: string;
  readonly table: string;
  readonly columns: Columns<E>;
  /** Null if rows are not cached. */
  readonly source: Source<E> | null;
  readonly alias: Alias | undefined;
  /** Returns the team or teams of an object, for entities that have teams. */
  readonly teamOf: ((entity: E) => string | readonly string[]) | undefined;
  readonly asItWas: AsItWas<E> | undefined;
  readonly reading: Reading;
}

export function findingOf<E extends Entity>(finding: FindOptions<E>) {
  const { name, table, alias, teamOf, reading } = finding;
  const select = `SELECT ${finding.columns.select} FROM ${table} WHERE workspace_id = :ws`;
  const { byAlias, idsByAlias } = calledSo(table, select, alias);
  const idOfFormer = formerNames(alias);
  const stagedOf = (ctx: Context, id: string) => ctx.staged?.find(name, id) as E | undefined;
  const seen = (ctx: Context, found: E | undefined): E | undefined =>
    found && ctx.visibleTeams && teamOf && !areAmong(teamOf(found), ctx.visibleTeams) ? undefined : found;
  const rows = rowsOf(finding, select);
  const then = (ctx: Context, found: E | undefined): E | undefined | Promise<E | undefined> => {
    const past = ctx.staged?.past;
    return found && past ? asThen(past, finding, [found]).then(([one]) => one) : found;
  };
  const findById = (ctx: Context, id: string): E | undefined | Promise<E | undefined> => {
    const found = rows.one(ctx, id);
    return found instanceof Promise ? found.then((one) => then(ctx, one)) : then(ctx, found);
  };
  const findCalled = async (ctx: Context, values: AliasValues): Promise<E | undefined> => {
    const found = byAlias && (await rows.called(ctx, byAlias, values));
    if (found) return then(ctx, found);
    const id = await idOfFormer(ctx, values);
    return id === undefined ? undefined : findById(ctx, id);
  };

  return {
    async find(ctx: Context, id: string): Promise<E | undefined> {
      const values = alias?.values(id, ctx);
      if (values === undefined || !byAlias)
        return seen(ctx, stagedOf(ctx, id) ?? reading.note(ctx, id, await findById(ctx, id)));
      const found = values === null ? undefined : await findCalled(ctx, values);
      reading.noteByName(ctx, found);
      return seen(ctx, found && (stagedOf(ctx, found.id) ?? found));
    },
    /** Resolves aliases to ids; ignores texts that are not aliases. */
    async idsOf(ctx: Context, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const wanted = namesWithValues(alias, names, ctx);
      if (!idsByAlias || wanted.length === 0) return new Map();
      const called = await ctx.store.read(ctx.scope, idsByAlias, { names: JSON.stringify(wanted) });
      const ids = new Map(called.map((row) => [row.name, row.id]));
      for (const candidate of names) {
        const values = ids.has(candidate) ? undefined : alias?.values(candidate, ctx);
        const id = values && (await idOfFormer(ctx, values));
        if (id) ids.set(candidate, id);
      }
      reading.noteByName(ctx, undefined);
      return ids;
    },
    /** Returns the existing objects, in no particular order. @param ids ids only */
    async findMany(ctx: Context, ids: readonly string[]): Promise<E[]> {
      const found = await rows.many(ctx, ids);
      reading.noteMany(ctx, ids, found);
      const past = ctx.staged?.past;
      const entities = past ? await asThen(past, finding, found) : found;
      return entities.flatMap((entity) =>
        entity ? (seen(ctx, stagedOf(ctx, entity.id) ?? entity) ?? []) : [],
      );
    },
  };
}

/** Returns functions that find rows as stored, those by id in the entity cache first. */
function rowsOf<E extends Entity>({ table, columns, source, alias }: FindOptions<E>, select: string) {
  const byId = tenantStatement<SqlRow>(`${table}.find`, `${select} AND id = :id`);
  const byIds = tenantStatement<SqlRow>(
    `${table}.find_many`,
    `${select} AND id IN (SELECT value FROM json_each(:ids))`,
  );
  // A row that is added takes no alias of a row that is not deleted.
  const ids = defineSource<string>(
    alias ? [{ table, key: null, columns: new Set(alias.columns), ignoresInserts: true }] : [],
  );
  const readOne = async ({ store, scope }: Context, id: string): Promise<E | null> => {
    const row = await store.readOne(scope, byId, { id });
    return row ? columns.read(row) : null;
  };
  return {
    /** Not a promise if the row is cached, because each promise costs as much as the look-up. */
    one(ctx: Context, id: string): E | undefined | Promise<E | undefined> {
      const { entities, scope } = ctx;
      const cached = source ? entities.get(source, scope, id) : undefined;
      if (cached !== undefined) return cached ?? undefined;
      const add = source && entities.reading(source, scope);
      return readOne(ctx, id).then((entity) => {
        add?.(id, entity);
        return entity ?? undefined;
      });
    },
    async called(ctx: Context, statement: Statement<SqlRow>, values: AliasValues): Promise<E | undefined> {
      const { entities, scope } = ctx;
      const name = Object.values(values).join(' ');
      const id = entities.get(ids, scope, name);
      const cached = id && source ? entities.get(source, scope, id) : null;
      // Another object may have taken the alias of a deleted one.
      if (cached && !('deletedAt' in cached && cached.deletedAt !== null)) return cached;
      const addId = entities.reading(ids, scope);
      const add = source && entities.reading(source, scope);
      const row = await ctx.store.readOne(scope, statement, values);
      const entity = row && columns.read(row);
      if (!entity) return undefined;
      add?.(entity.id, entity);
      addId(name, entity.id);
      return entity;
    },
    async many(ctx: Context, ids: readonly string[]): Promise<E[]> {
      const { entities, scope } = ctx;
      const known: E[] = [];
      const missing: string[] = [];
      for (const id of new Set(ids)) {
        const cached = source ? entities.get(source, scope, id) : undefined;
        if (cached === undefined) missing.push(id);
        else if (cached) known.push(cached);
      }
      if (missing.length === 0) return known;
      const add = source && entities.reading(source, scope);
      const rows = await ctx.store.read(scope, byIds, { ids: JSON.stringify(missing) });
      const found = new Map(rows.map((row) => [String(row.id), columns.read(row)]));
      for (const id of missing) add?.(id, found.get(id) ?? null);
      return [...known, ...found.values()];
    },
  };
}

type AliasValues = Readonly<Record<string, Value>>;

/**
 * Returns [name, …alias column values] per valid alias, in column order. Skips texts that are not aliases.
 */
function namesWithValues(alias: Alias | undefined, names: readonly string[], ctx: Context) {
  return names.flatMap((candidate) => {
    const values = alias?.values(candidate, ctx);
    return values && alias ? [[candidate, ...alias.columns.map((column) => values[column])]] : [];
  });
}

const matching = (columns: readonly string[]): string =>
  columns.map((column) => `${column} = :${column}`).join(' AND ');

/** Returns the statements that find one or many rows by alias. */
function calledSo(table: string, select: string, alias: Alias | undefined) {
  if (!alias) return {};
  const { columns } = alias;
  const listed = columns.map((column, at) => `one.${column} = named.value->>${at + 1}`).join(' AND ');
  return {
    byAlias: tenantStatement<SqlRow>(`${table}.find_aliased`, `${select} AND ${matching(columns)}`),
    idsByAlias: tenantStatement<{ name: string; id: string }>(
      `${table}.ids_of_aliases`,
      // CROSS JOIN fixes the order of the join, so that SQLite looks up each name and never scans the table.
      `SELECT named.value->>0 AS name, one.id AS id FROM json_each(:names) AS named
       CROSS JOIN ${table} AS one ON one.workspace_id = :ws AND ${listed}`,
    ),
  };
}

/** Returns a function that finds the id of a former name. */
function formerNames(
  alias: Alias | undefined,
): (ctx: Context, values: AliasValues) => Promise<string | undefined> {
  if (!alias?.former) return async () => undefined;
  const { columns, former } = alias;
  const statement = tenantStatement<{ id: string }>(
    `${former.table}.find`,
    `SELECT ${former.id} AS id FROM ${former.table} WHERE workspace_id = :ws AND ${matching(columns)}`,
  );
  return async ({ store, scope, visibleTeams }, values) => {
    // A former identifier of a team that the caller cannot see would reveal that team.
    if (visibleTeams !== null && 'team_id' in values && !visibleTeams.has(String(values.team_id)))
      return undefined;
    return (await store.readOne(scope, statement, values))?.id;
  };
}

export function areAmong(teams: string | readonly string[], ids: ReadonlySet<string>): boolean {
  return typeof teams === 'string' ? ids.has(teams) : teams.every((id) => ids.has(id));
}

/**
 * Records reads of one entity in the read set of a plugin run: rows by version, names that no object has,
 * lists.
 */
interface Reading {
  /** Records a lookup by id, with or without a result. */
  note<E extends Entity>(ctx: Context, id: string, found: E | undefined): E | undefined;
  /**
   * Records a lookup by alias. If no object was found, every later change of any object of the entity is a
   * conflict.
   */
  noteByName(ctx: Context, found: Entity | undefined): void;
  noteMany(ctx: Context, ids: readonly string[], found: readonly Entity[]): void;
  noteList(reads: ReadSet, rows: readonly SqlRow[], where: readonly Condition[]): void;
}

export function readingOf(name: string, table: string): Reading {
  const asRead = asReadStatement(table);
  const note: Reading['note'] = (ctx, id, found) => {
    ctx.staged?.reads?.row(asRead, name, id, found?.version ?? null);
    return found;
  };
  return {
    note,
    noteByName(ctx, found) {
      if (found) note(ctx, found.id, found);
      else ctx.staged?.reads?.kind(name);
    },
    noteMany(ctx, ids, found) {
      if (!ctx.staged?.reads) return;
      const byId = new Map(found.map((entity) => [entity.id, entity]));
      for (const id of ids) note(ctx, id, byId.get(id));
    },
    noteList(reads, rows, where) {
      for (const { id, version } of rows) reads.row(asRead, name, String(id), Number(version));
      reads.list(name, table, where);
    },
  };
}

type Wire = Readonly<Record<string, unknown>>;

/** Past moment at which a run reads objects, in the state that the log records. */
export interface Past {
  /** Sequence of the last event that the state includes. */
  readonly sequence: number;
  readonly atMs: number;
  /** Names and settings at that moment. */
  readonly directory: Directory;
  /**
   * Returns the past responses by id, without objects that did not exist; null if the log does not have them.
   */
  responses(model: string, now: readonly Entity[]): Promise<ReadonlyMap<string, Wire> | null>;
}

/** Returns the past row, derived from the present row and the past response. */
export type AsItWas<E> = (now: E, was: Wire, directory: Directory) => E;

/** Returns the rows at the past moment, in the same order; undefined for an object that did not exist. */
export async function asThen<E extends Entity>(
  past: Past | null,
  model: { readonly name: string; readonly asItWas: AsItWas<E> | undefined },
  now: readonly E[],
): Promise<readonly (E | undefined)[]> {
  if (past === null || now.length === 0 || !model.asItWas) return now;
  const were = await past.responses(model.name, now);
  if (were === null) return now;
  const { asItWas } = model;
  return now.map((entity) => {
    const was = were.get(entity.id);
    if (was) return asItWas(entity, was, past.directory);
    // For an object without events only the time of its creation is known.
    return isOlder(entity, past) ? entity : undefined;
  });
}

function isOlder(entity: Entity & { readonly createdAt?: number }, { atMs }: Past): boolean {
  return (entity.createdAt ?? Number.POSITIVE_INFINITY) < atMs;
}

const versionOf = orderVersionTable.select('read', ['version'], ['id']);
/** Changes no row if an object was placed in the order after the version was read. */
const advance = tenantStatement(
  'order_versions.advance',
  `INSERT INTO order_versions (workspace_id, id, version) VALUES (:ws, :id, :version + 1)
   ON CONFLICT (workspace_id, id) DO UPDATE SET version = version + 1 WHERE version = :version`,
);

/**
 * Reads the version of an order in which objects are placed by their neighbors (cards of a board, sub-issues,
 * positions). Must be called before the neighbors are read: the batch commits only at this version, so that
 * places are computed one after the other. Within a run, returns the version read for its first placement.
 */
export async function readOrder({ store, scope, staged }: Context, id: string): Promise<OrderVersion> {
  const known = staged?.changes.find(({ order }) => order?.id === id)?.order;
  if (known) return known;
  return { id, version: (await versionOf.one(store, scope, { id }))?.version ?? 0 };
}

/** Returns one op for each order of a batch, however many changes place something in it. */
export function orderOps(scope: Scope, changes: readonly Change[]): Op[] {
  const orders = new Map<string, OrderVersion>();
  for (const { order } of changes) if (order && !orders.has(order.id)) orders.set(order.id, order);
  return [...orders.values()].map(({ id, version }) =>
    tenantOp(scope, advance, { id, version }, { expectRows: 1 }),
  );
}
