// Finds the rows of a kind, one or many, by their ids or by what people call them. What a run has staged is seen, and what belongs
// to teams that the caller does not see is not there.
import type { Context, View } from '../context.ts';
import { tenantStatement, type Row, type Statement, type Value } from '../store/statement.ts';
import type { Entity } from './change.ts';
import type { Columns } from './columns.ts';
import type { Reading } from './reading.ts';
import { asThen, type AsItWas } from './past.ts';

/** Another name than the id, which a unique index finds. */
export interface Alias {
  readonly columns: readonly string[];
  /** The values of those columns; null where nothing can have them; undefined for what is no such name. */
  values(name: string, view: Pick<View, 'directory'>): Readonly<Record<string, Value>> | null | undefined;
  /** The table of what things were called before, looked into where nothing is called so now: the same columns, and the id. */
  readonly former?: { readonly table: string; readonly id: string };
}

export interface Finding<E extends Entity> {
  readonly name: string;
  readonly table: string;
  readonly columns: Columns<E>;
  readonly alias: Alias | undefined;
  /** The team or teams it belongs to, where objects of the kind belong to some. */
  readonly teamOf: ((entity: E) => string | readonly string[]) | undefined;
  readonly asItWas: AsItWas<E> | undefined;
  /** Is told of what is looked for, and of what is found. */
  readonly reading: Reading;
}

export function findingOf<E extends Entity>(finding: Finding<E>) {
  const { name, table, columns, alias, teamOf, reading } = finding;
  const select = `SELECT ${columns.select} FROM ${table} WHERE workspace_id = :ws`;
  const byId = tenantStatement<Row>(`${table}.find`, `${select} AND id = :id`);
  const byIds = tenantStatement<Row>(
    `${table}.find_many`,
    `${select} AND id IN (SELECT value FROM json_each(:ids))`,
  );
  const { byAlias, idsByAlias } = calledSo(table, select, alias);
  const idOfFormer = formerNames(alias);
  const stagedOf = (ctx: Context, id: string) => ctx.staged?.find(name, id) as E | undefined;
  const seen = (ctx: Context, found: E | undefined): E | undefined =>
    found && ctx.visibleTeams && teamOf && !areAmong(teamOf(found), ctx.visibleTeams) ? undefined : found;
  const read = async (ctx: Context, statement: Statement<Row>, params: Values) => {
    const row = await ctx.store.readOne(ctx.scope, statement, params);
    const past = ctx.staged?.past;
    return row && past ? (await asThen(past, finding, [columns.read(row)]))[0] : row && columns.read(row);
  };
  const findCalled = async (ctx: Context, values: Values): Promise<E | undefined> => {
    const found = byAlias && (await read(ctx, byAlias, values));
    if (found) return found;
    const id = await idOfFormer(ctx, values);
    return id === undefined ? undefined : read(ctx, byId, { id });
  };

  return {
    async find(ctx: Context, id: string): Promise<E | undefined> {
      const values = alias?.values(id, ctx);
      if (values === undefined || !byAlias)
        return seen(ctx, stagedOf(ctx, id) ?? reading.note(ctx, id, await read(ctx, byId, { id })));
      const found = values === null ? undefined : await findCalled(ctx, values);
      reading.noteNamed(ctx, found);
      return seen(ctx, found && (stagedOf(ctx, found.id) ?? found));
    },
    /** The ids of those names that something is called by; what is no other name than an id is not looked at. */
    async idsOf(ctx: Context, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const wanted = namesWithValues(alias, names, ctx);
      if (!idsByAlias || wanted.length === 0) return new Map();
      const rows = await ctx.store.read(ctx.scope, idsByAlias, { names: JSON.stringify(wanted) });
      const ids = new Map(rows.map((row) => [row.name, row.id]));
      for (const given of names) {
        const values = ids.has(given) ? undefined : alias?.values(given, ctx);
        const id = values && (await idOfFormer(ctx, values));
        if (id) ids.set(given, id);
      }
      reading.noteNamed(ctx, undefined);
      return ids;
    },
    /** Those that are there, in no order. @param ids ids alone */
    async findMany(ctx: Context, ids: readonly string[]): Promise<E[]> {
      const rows = await ctx.store.read(ctx.scope, byIds, { ids: JSON.stringify(ids) });
      const found = rows.map((row) => columns.read(row));
      reading.noteMany(ctx, ids, found);
      const past = ctx.staged?.past;
      const entities = past ? await asThen(past, finding, found) : found;
      return entities.flatMap((entity) =>
        entity ? (seen(ctx, stagedOf(ctx, entity.id) ?? entity) ?? []) : [],
      );
    },
  };
}

type Values = Readonly<Record<string, Value>>;

/** Each name with the values of the alias's columns, in their order; what is no such name is left out. */
function namesWithValues(alias: Alias | undefined, names: readonly string[], ctx: Context) {
  return names.flatMap((given) => {
    const values = alias?.values(given, ctx);
    return values && alias ? [[given, ...alias.columns.map((column) => values[column])]] : [];
  });
}

const matching = (columns: readonly string[]): string =>
  columns.map((column) => `${column} = :${column}`).join(' AND ');

/** What finds rows by their other name, one or many. */
function calledSo(table: string, select: string, alias: Alias | undefined) {
  if (!alias) return {};
  const { columns } = alias;
  const listed = columns.map((column, at) => `one.${column} = named.value->>${at + 1}`).join(' AND ');
  return {
    byAlias: tenantStatement<Row>(`${table}.find_aliased`, `${select} AND ${matching(columns)}`),
    idsByAlias: tenantStatement<{ name: string; id: string }>(
      `${table}.ids_of_aliases`,
      // Joined across, so that the names are looked up, however many rows there are.
      `SELECT named.value->>0 AS name, one.id AS id FROM json_each(:names) AS named
       CROSS JOIN ${table} AS one ON one.workspace_id = :ws AND ${listed}`,
    ),
  };
}

/** Finds the id of what was called so before. */
function formerNames(
  alias: Alias | undefined,
): (ctx: Context, values: Values) => Promise<string | undefined> {
  if (!alias?.former) return async () => undefined;
  const { columns, former } = alias;
  const statement = tenantStatement<{ id: string }>(
    `${former.table}.find`,
    `SELECT ${former.id} AS id FROM ${former.table} WHERE workspace_id = :ws AND ${matching(columns)}`,
  );
  return async ({ store, scope, visibleTeams }, values) => {
    // A former identifier in a team that the caller does not see would tell of that team.
    if (visibleTeams !== null && 'team_id' in values && !visibleTeams.has(String(values.team_id)))
      return undefined;
    return (await store.readOne(scope, statement, values))?.id;
  };
}

/** @param teams the id of one, or those of several */
export function areAmong(teams: string | readonly string[], ids: ReadonlySet<string>): boolean {
  return typeof teams === 'string' ? ids.has(teams) : teams.every((id) => ids.has(id));
}
