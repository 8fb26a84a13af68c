// Lists of one kind in their public shape: a keyset page, with what a plugin run has staged laid over it (changed fields
// show, new objects do not). What belongs to teams that the caller does not see is left out.
import type { Context } from '../context.ts';
import type { CursorValue } from '../lib/cursor.ts';
import { invalidField } from '../lib/errors.ts';
import { limitDefault } from '../lib/schema.ts';
import { readPage, type Condition, type Page, type SortKey } from '../store/page.ts';
import type { Entity } from './change.ts';
import type { AnyKind, Kind } from './kind.ts';
import { asThen } from './past.ts';

export interface PageParameters {
  readonly limit?: number;
  readonly after?: string;
  readonly cursor?: string;
}

interface ListOptions<E> {
  readonly where?: readonly Condition[];
  readonly order?: readonly SortKey[];
  readonly without?: readonly string[];
  keep?(entity: E): boolean;
  /** In place of the cursor: the values of the sort keys, and the id, that the page begins behind. */
  readonly beyond?: readonly CursorValue[] | undefined;
  /** What beside the parameters of the list was asked for: its parent. */
  readonly asked?: Readonly<Record<string, unknown>>;
}

/** Who reads; what the service does by itself has staged nothing and sees every team. */
type Seeing = Pick<Context, 'store' | 'sealing' | 'scope'> &
  Partial<Pick<Context, 'staged' | 'visibleTeams'>>;

/** @throws ApiError validation_failed when `after` and `cursor` disagree, and what `readPage` throws */
export async function listKind<E extends Entity, W>(
  ctx: Context,
  kind: Kind<E, W>,
  page: PageParameters,
  options: ListOptions<E> = {},
): Promise<Page<W>> {
  const { data, pageInfo } = await pageOfKind(ctx, kind, page, options);
  return { data: data.map((entity) => kind.wire(entity, ctx)), pageInfo };
}

/** As `listKind`, before it is shown. */
export async function pageOfKind<E extends Entity, W>(
  ctx: Seeing,
  kind: Kind<E, W>,
  page: PageParameters,
  options: ListOptions<E> = {},
): Promise<Page<E>> {
  const seen = seenOf(ctx, kind, options.where ?? []);
  const { data, pageInfo, next } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: kind.table,
    select: kind.select,
    where: seen,
    order: options.order ?? [{ sql: 'created_at', direction: 'asc' }],
    limit: page.limit ?? limitDefault,
    after: options.beyond ? undefined : cursorOf(page),
    ...(options.beyond ? { beyond: options.beyond } : {}),
    asked: { ...askedOf(page), ...options.asked },
    ...(options.without ? { without: options.without } : {}),
  });
  // The row behind the page is what says that there is another page.
  if (ctx.staged?.reads) kind.noteList(ctx.staged.reads, next ? [...data, next] : data, seen);
  const entities = await seenBy(ctx.staged, kind, data.map(kind.fromRow));
  return { data: options.keep ? entities.filter(options.keep) : [...entities], pageInfo };
}

/** As they were at the moment that a run sees, and with what it has staged. */
async function seenBy<E extends Entity, W>(
  staged: Context['staged'] | undefined,
  kind: Kind<E, W>,
  rows: readonly E[],
): Promise<readonly E[]> {
  if (!staged) return rows;
  const stored = staged.past ? await asThen(staged.past, kind, rows) : rows;
  return stored.flatMap((one) => (one ? ((staged.find(kind.name, one.id) as E | undefined) ?? one) : []));
}

function seenOf(
  { visibleTeams }: Seeing,
  { isOfTeamIn }: Pick<AnyKind, 'isOfTeamIn'>,
  where: readonly Condition[],
): readonly Condition[] {
  return visibleTeams && isOfTeamIn ? [...where, ofTeams(isOfTeamIn, visibleTeams)] : where;
}

/** An empty list is written as one that nothing is in, because the planner folds a constant and then scans the table. */
function ofTeams(isIn: (list: string) => string, ids: ReadonlySet<string>): Condition {
  const bound = [...(ids.size === 0 ? [''] : ids)].map((id, index) => [`team${index}`, id] as const);
  return {
    sql: isIn(bound.map(([name]) => `:${name}`).join(', ')),
    params: Object.fromEntries(bound),
  };
}

/** What tells one page from another, and how its rows are shown: neither is asked of the list. */
const ofPages = new Set(['limit', 'after', 'cursor', 'fields', 'expand', 'include']);

/** What the parameters of a list ask for. */
export function askedOf(query: PageParameters): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !ofPages.has(name)));
}

export function cursorOf({ after, cursor }: PageParameters): string | undefined {
  if (after !== undefined && cursor !== undefined && after !== cursor)
    throw invalidField('cursor', 'conflict', 'Give either cursor or after: they are two names for the same.');
  return after ?? cursor;
}

export const notDeleted: Condition = { sql: 'deleted_at IS NULL', params: {} };
