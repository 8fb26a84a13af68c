// Lists the objects of a model in their public representation: a page by keyset, with the staged changes of a
// plugin run applied (changed fields appear, new objects do not). Objects of teams that the caller cannot see
// are omitted.
import type { CursorValue } from '../../platform/lib/cursor.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { limitDefault } from '../../platform/lib/schema.ts';
import type { Sealing } from '../../platform/lib/secrets/sealing.ts';
import { type Condition, type Page, readPage, type SortKey } from '../../platform/store/page.ts';
import type { Scope, Store } from '../../platform/store/store.ts';
import type { Context } from '../context.ts';
import type { Entity } from './change.ts';
import { asThen } from './find.ts';
import type { AnyModel, EntityModel } from './model.ts';

export interface PageParameters {
  readonly limit?: number;
  readonly after?: string;
  readonly cursor?: string;
}

interface ListOptions<E> {
  readonly where?: readonly Condition[];
  readonly order?: readonly SortKey[];
  readonly without?: readonly string[];
  filter?(entity: E): boolean;
  /** In place of the cursor: sort values and id of the item that the page starts after. */
  readonly beyond?: readonly CursorValue[] | undefined;
  /** Parameters in addition to those of the page that determine the contents, such as the parent. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** Context of a list; internal reads have no staged changes and include every team. */
interface ListReader {
  readonly store: Store;
  readonly sealing: Sealing;
  readonly scope: Scope;
  readonly staged?: Context['staged'];
  readonly visibleTeams?: Context['visibleTeams'];
}

/** @throws ApiError validation_failed if `after` and `cursor` differ, and what `readPage` throws */
export async function listEntities<E extends Entity, W>(
  ctx: Context,
  model: EntityModel<E, W>,
  page: PageParameters,
  options: ListOptions<E> = {},
): Promise<Page<W>> {
  const { data, pageInfo } = await pageOfModel(ctx, model, page, options);
  return { data: data.map((entity) => model.toResponse(entity, ctx)), pageInfo };
}

/** Like `listEntities`, but returns entities instead of their public representation. */
export async function pageOfModel<E extends Entity, W>(
  ctx: ListReader,
  model: EntityModel<E, W>,
  page: PageParameters,
  options: ListOptions<E> = {},
): Promise<Page<E>> {
  const seen = seenOf(ctx, model, options.where ?? []);
  const { data, pageInfo, next } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: model.table,
    select: model.select,
    where: seen,
    order: options.order ?? [{ sql: 'created_at', direction: 'asc' }],
    limit: page.limit ?? limitDefault,
    after: options.beyond ? undefined : cursorOf(page),
    ...(options.beyond ? { beyond: options.beyond } : {}),
    parameters: { ...contentParameters(page), ...options.parameters },
    ...(options.without ? { without: options.without } : {}),
  });
  // The row after the page determines whether there is another page.
  if (ctx.staged?.reads) model.noteList(ctx.staged.reads, next ? [...data, next] : data, seen);
  const entities = await seenBy(ctx.staged, model, data.map(model.fromRow));
  return { data: options.filter ? entities.filter(options.filter) : [...entities], pageInfo };
}

/** Applies the past moment of a run, then its staged changes. */
async function seenBy<E extends Entity, W>(
  staged: Context['staged'] | undefined,
  model: EntityModel<E, W>,
  rows: readonly E[],
): Promise<readonly E[]> {
  if (!staged) return rows;
  const stored = staged.past ? await asThen(staged.past, model, rows) : rows;
  return stored.flatMap((one) => (one ? ((staged.find(model.name, one.id) as E | undefined) ?? one) : []));
}

function seenOf(
  { visibleTeams }: ListReader,
  { isOfTeamIn }: AnyModel,
  where: readonly Condition[],
): readonly Condition[] {
  return visibleTeams && isOfTeamIn ? [...where, ofTeams(isOfTeamIn, visibleTeams)] : where;
}

/** Replaces an empty list by an id that matches nothing: for a constant condition, SQLite scans the table. */
function ofTeams(isIn: (list: string) => string, ids: ReadonlySet<string>): Condition {
  const bound = [...(ids.size === 0 ? [''] : ids)].map((id, index) => [`team${index}`, id] as const);
  return {
    sql: isIn(bound.map(([name]) => `:${name}`).join(', ')),
    params: Object.fromEntries(bound),
  };
}

/** Parameters that select a page or the representation of its rows, but not the contents of the list. */
const ofPages = new Set(['limit', 'after', 'cursor', 'fields', 'expand', 'include']);

/** Returns the parameters that determine the contents of a list. */
export function contentParameters(query: PageParameters): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !ofPages.has(name)));
}

export function cursorOf({ after, cursor }: PageParameters): string | undefined {
  if (after !== undefined && cursor !== undefined && after !== cursor)
    throw invalidField(
      'cursor',
      'conflict',
      'Give either `cursor` or `after`, not both: `cursor` is another name for `after`.',
    );
  return after ?? cursor;
}

export const notDeleted: Condition = { sql: 'deleted_at IS NULL', params: {} };
