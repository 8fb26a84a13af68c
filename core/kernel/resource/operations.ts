// Default operations of a resource.
import { listEntities, type PageParameters } from '../changes/list.ts';
import { created, getEntity, removed, updated } from '../changes/operations.ts';
import { readOrder } from '../changes/find.ts';
import type { ChangeSet, Entity, NewEntity, OrderVersion } from '../changes/change.ts';
import type { EntityModel } from '../changes/model.ts';
import type { Contract, Created, Patch, EntityResponse } from '../contract/contract.ts';
import type { Context } from '../context.ts';
import { notFound } from '../../platform/lib/errors/errors.ts';
import type { Condition, Page, SortKey } from '../../platform/store/page.ts';
import { whereDeleted, type Deleted } from './archived.ts';
import { createQueryFilter } from './filter/filter.ts';
import { filteringOf, type Filtering } from './filter/filtering.ts';
import type { Was } from './as-of/objects.ts';
import { readsAt } from './as-of/list.ts';
import { defaultsOf, storedValuesOf } from './input.ts';
import { snake } from '../../platform/lib/text/words.ts';
import { sortingsOf, sortKeysOf } from './sort.ts';

type Query = PageParameters & { readonly deleted?: Deleted } & Readonly<Record<string, unknown>>;

/** Operations of a resource. `parentId` is the object in the path, if the resource has a parent. */
export interface Operations<C extends Contract> {
  list(ctx: Context, query: Query, parentId: string | null): Promise<Page<EntityResponse<C>>>;
  create(ctx: Context, body: Created<C>, parentId: string | null): Promise<ChangeSet>;
  /** @param asOf moment at which the object is shown; default now */
  get(ctx: Context, id: string, asOf?: string): Promise<EntityResponse<C>>;
  update(ctx: Context, id: string, patch: Patch<C>, ifMatch: number | null): Promise<ChangeSet>;
  delete(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet>;
  restore(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet>;
}

/** Rules of a resource, which its default operations apply. */
export interface Rules<C extends Contract, E extends Entity> {
  /** Sets values of a new object that are not in the body. */
  readonly sets?: (
    ctx: Context,
    body: Created<C>,
    parentId: string | null,
  ) => Partial<E> | Promise<Partial<E>>;
  /**
   * Returns the id of the list to whose end a new object is added; null if the body sets the position. The
   * order of the list is read before `sets` computes the position.
   */
  readonly placedIn?: (ctx: Context, body: Created<C>, parentId: string | null) => string | null;
  /** Changes values in addition to those in the body of an update. */
  readonly follows?: (ctx: Context, patch: Partial<E>, before: E) => Partial<E>;
  /**
   * Rejects invalid objects. `after` is the whole object, including unchanged fields; `before` is null for a
   * creation and for a restored object.
   * @throws ApiError
   */
  readonly check?: (ctx: Context, after: NewEntity<E>, before: E | null) => void | Promise<void>;
  /**
   * Rejects existing objects that the caller cannot see, such as parts of a deleted object.
   * @throws ApiError
   */
  readonly admits?: (ctx: Context, entity: E) => Promise<unknown>;
  /** Adds conditions to lists beyond their filters, for a parent or for a custom parameter. */
  readonly where?: (
    ctx: Context,
    query: Query,
    parentId: string | null,
  ) => readonly Condition[] | Promise<readonly Condition[]>;
  /** Deleted objects that lists show anyway, because others refer to them. */
  readonly placeholders?: {
    readonly sql: string;
    /** Returns the object as lists show it. */
    response(whole: EntityResponse<C>): EntityResponse<C>;
  };
  /**
   * Applies `where` to the public representation of an object at a past moment, for resources that support
   * `asOf`.
   */
  readonly wasAmong?: (query: Query, was: Was) => boolean;
}

export function plainOperations<C extends Contract, E extends Entity>(
  contract: C,
  model: EntityModel<E, EntityResponse<C>>,
  rules: Rules<C, E>,
  filtering: Filtering = filteringOf(contract, model),
): Operations<C> {
  const needsSets = 'create' in contract.operations;
  if (contract.parent && !(rules.where && (rules.sets || !needsSets)))
    throw new Error(`${contract.name} has a parent: define \`where\` for lists and \`sets\` for creation.`);
  const defaults = defaultsOf(contract);
  const order = orderOf(contract);
  const sortings = sortingsOf(contract);
  const filterIn = createQueryFilter(contract);
  const then = readsAt<EntityResponse<C>>(contract, filtering, rules.wasAmong);

  const find = async (ctx: Context, id: string): Promise<E> => {
    const entity = await getEntity(ctx, model, id);
    await rules.admits?.(ctx, entity);
    return entity;
  };

  return {
    async list(ctx, query, parentId) {
      const tree = filterIn(ctx.directory, query);
      if (typeof query.asOf === 'string') return then.list(ctx, query, query.asOf);
      const narrowed = narrowedTo(parentId, await rules.where?.(ctx, query, parentId));
      const filtered = tree === null ? [] : await filtering.conditions(ctx, [{ tree, at: '' }]);
      const { retainsDeleted } = contract;
      const deletedFilter = retainsDeleted ? whereDeleted(query.deleted, rules.placeholders?.sql) : [];
      const keys = typeof query.sort === 'string' ? sortKeysOf(sortings, query.sort) : order;
      const where = [...deletedFilter, ...narrowed, ...filtered];
      const among = { where, order: keys, parameters: { parentId } };
      return withPlaceholders(await listEntities(ctx, model, query, among), query, rules.placeholders);
    },
    async create(ctx, body, parentId) {
      const times = timesOfCreation(ctx.nowMs());
      const order = await orderOfCreation(ctx, rules.placedIn?.(ctx, body, parentId));
      // Runs first, because a missing parent takes precedence over errors in the body.
      const set = await rules.sets?.(ctx, body, parentId);
      const values = storedValuesOf(ctx, contract, 'create', body);
      const entity = entityOf<E>({ id: ctx.ids.next(contract.id), ...defaults, ...values, ...set, ...times });
      await rules.check?.(ctx, entity, null);
      return inOrder(created(ctx, model, entity, contract.path), order);
    },
    get: async (ctx, id, asOf) =>
      asOf === undefined ? model.toResponse(await find(ctx, id), ctx) : then.get(ctx, id, asOf),
    async update(ctx, id, body, ifMatch) {
      const before = await find(ctx, id);
      const values = patchOf<E>(storedValuesOf(ctx, contract, 'update', body));
      const patch = { ...values, ...rules.follows?.(ctx, values, before) };
      await rules.check?.(ctx, { ...before, ...patch }, before);
      return updated(ctx, model, before, patch, ifMatch);
    },
    delete: async (ctx, id, ifMatch) => removed(ctx, model, await find(ctx, id), ifMatch),
    async restore(ctx, id, ifMatch) {
      const entity = await model.find(ctx, id);
      if (!entity) throw notFound();
      await rules.admits?.(ctx, entity);
      await rules.check?.(ctx, entity, null);
      return updated(ctx, model, entity, patchOf<E>({ deletedAt: null }), ifMatch);
    },
  };
}

const timesOfCreation = (now: number) => ({ createdAt: now, updatedAt: now });

const orderOfCreation = async (ctx: Context, listId: string | null = null): Promise<OrderVersion | null> =>
  listId === null ? null : readOrder(ctx, listId);

const inOrder = (set: ChangeSet, order: OrderVersion | null): ChangeSet =>
  order ? { ...set, changes: set.changes.map((change) => ({ ...change, order })) } : set;

function withPlaceholders<C extends Contract>(
  page: Page<EntityResponse<C>>,
  { deleted = 'exclude' }: Query,
  placeholders: Rules<C, Entity>['placeholders'],
): Page<EntityResponse<C>> {
  if (!placeholders || deleted !== 'exclude') return page;
  const isDeleted = (response: EntityResponse<C>): boolean =>
    ((response as { readonly deletedAt?: string | null }).deletedAt ?? null) !== null;
  return {
    ...page,
    data: page.data.map((response) => (isDeleted(response) ? placeholders.response(response) : response)),
  };
}

/**
 * A parent has few of the objects: this hint makes the planner search by parent even if the list has another
 * order.
 */
function narrowedTo(parentId: string | null, where: readonly Condition[] = []): readonly Condition[] {
  if (parentId === null) return where;
  return where.map((condition) => ({ ...condition, sql: `unlikely(${condition.sql})` }));
}

function orderOf({ order = 'oldest' }: Contract): SortKey[] {
  if (typeof order !== 'string') return order.map((name) => ({ sql: snake(name), direction: 'asc' }));
  return [{ sql: 'created_at', direction: order === 'newest' ? 'desc' : 'asc' }];
}

// The compiler cannot verify that values built from the contract match the entity type.
const entityOf = <E extends Entity>(values: object): NewEntity<E> => values as NewEntity<E>;
const patchOf = <E>(values: object): Partial<E> => values as Partial<E>;
