// Favorites of the calling member. They are stored without the title of their object, which each read adds if
// the caller may see the object.
import type { Change, ChangeSet } from '../../kernel/changes/change.ts';
import { readOrder } from '../../kernel/changes/find.ts';
import { notDeleted, pageOfModel, type PageParameters } from '../../kernel/changes/list.ts';
import type { Created, EntityResponse } from '../../kernel/contract/contract.ts';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { plainOperations, type Rules } from '../../kernel/resource/operations.ts';
import { lastPositionIn } from '../../kernel/resource/sort.ts';
import { requireMember } from '../../kernel/rights/rights.ts';
import { ApiError, invalidField, notFound } from '../../platform/lib/errors/errors.ts';
import { derivedId } from '../../platform/lib/ids.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { favorite, favoritesMax, favoriteTypes, positionMax } from './contract.ts';
import { targetsOf } from './targets.ts';

type Favorite = EntityOf<typeof favorite>;
type FavoriteResponse = EntityResponse<typeof favorite>;

const count = 'SELECT count(*) FROM favorites AS f INDEXED BY favorites_member WHERE f.workspace_id = :ws';
const countOf = tenantStatement<{ count: number }>(
  'favorites.count',
  `SELECT (${count} AND f.member_id = :memberId AND f.deleted_at IS NULL) AS count`,
);
/** Fails the batch if concurrent requests add more favorites than a member may have. */
const requireCapacity = tenantStatement(
  'favorites.have_capacity',
  `UPDATE members SET version = version WHERE workspace_id = :ws AND id = :memberId
     AND (${count} AND f.member_id = :memberId AND f.deleted_at IS NULL) <= :max`,
);

const favoriteModel = modelOf(favorite, {
  shows: { title: () => null, identifier: () => null, url: () => null },
  related: (scope, before, { memberId, deletedAt }) => {
    const isAdded = deletedAt === null && (before === null || before.deletedAt !== null);
    const capacity = { memberId, max: favoritesMax };
    return isAdded ? { last: [tenantOp(scope, requireCapacity, capacity, { expectRows: 1 })] } : {};
  },
});

const rules: Rules<typeof favorite, Favorite> = {
  async admits(ctx, { memberId }) {
    if (memberId !== requireMember(ctx)) throw notFound();
  },
};
const plain = plainOperations(favorite, favoriteModel, rules);

const lastPosition = lastPositionIn({
  kind: favorite.name,
  table: favoriteModel.table,
  owner: 'memberId',
  max: positionMax,
});

/** Adds what the caller may see of the objects of favorites. */
async function withTargets(
  ctx: Context,
  favorites: readonly FavoriteResponse[],
): Promise<FavoriteResponse[]> {
  const shown = new Map<string, Partial<FavoriteResponse>>();
  for (const type of favoriteTypes) {
    const ids = favorites.filter((one) => one.type === type).map(({ targetId }) => targetId);
    for (const { id, ...target } of await targetsOf[type].findMany(ctx, ids)) shown.set(id, target);
  }
  return favorites.map((one) => ({ ...one, ...shown.get(one.targetId) }));
}

async function withTarget(ctx: Context, response: FavoriteResponse): Promise<FavoriteResponse> {
  const [shown] = await withTargets(ctx, [response]);
  return shown!;
}

async function listFavorites(ctx: Context, query: PageParameters & { readonly type?: unknown }) {
  const { type } = query;
  const { data, pageInfo } = await pageOfModel(ctx, favoriteModel, query, {
    where: [
      notDeleted,
      { sql: 'member_id = :memberId', params: { memberId: requireMember(ctx) } },
      ...(typeof type === 'string' ? [{ sql: 'type = :type', params: { type } }] : []),
    ],
    order: [{ sql: 'position', direction: 'asc' }],
  });
  const responses = data.map((entity) => favoriteModel.toResponse(entity, ctx));
  return { data: await withTargets(ctx, responses), pageInfo };
}

/** Returns an existing favorite of the object unchanged. @throws ApiError validation_failed, conflict */
async function addFavorite(ctx: Context, input: Created<typeof favorite>): Promise<ChangeSet> {
  const memberId = requireMember(ctx);
  const target = await targetsOf[input.type].find(ctx, input.targetId);
  if (!target)
    throw invalidField('targetId', 'not_found', {
      why: `There is no ${input.type} ${input.targetId}.`,
      fix: `Use the id of ${input.type === 'issue' ? 'an issue' : `a ${input.type}`} that you can see.`,
    });
  const id = derivedId(favorite.id, target.id, memberId);
  const known = await favoriteModel.find(ctx, id);
  if (known?.deletedAt === null)
    return { changes: [], body: await withTarget(ctx, favoriteModel.toResponse(known, ctx)), status: 200 };
  await requireFewer(ctx, memberId);
  const order = input.position === undefined ? await readOrder(ctx, memberId) : null;
  const position = input.position ?? (await lastPosition(ctx, memberId));
  const now = ctx.nowMs();
  const change = known
    ? favoriteModel.update(known, { position, createdAt: now, deletedAt: null }, now)!
    : favoriteModel.create({
        ...{ id, memberId, type: input.type, targetId: target.id, position },
        ...{ createdAt: now, updatedAt: now, deletedAt: null },
      });
  const ordered: Change = order ? { ...change, order } : change;
  const body = await withTarget(ctx, favoriteModel.toResponse(change.after, ctx));
  return {
    changes: [ordered],
    body,
    status: 201,
    location: `${ctx.baseUrl}/api/v1/${favorite.path}/${id}`,
  };
}

/** @throws ApiError conflict */
async function requireFewer(ctx: Context, memberId: string): Promise<void> {
  const row = await ctx.store.readOne(ctx.scope, countOf, { memberId });
  if ((row?.count ?? 0) >= favoritesMax)
    throw new ApiError('conflict', `A member has at most ${favoritesMax} favorites. Remove one first.`);
}

export const favorites = defineResource(favorite, favoriteModel, {
  ...rules,
  operations: {
    list: (ctx, query) => listFavorites(ctx, query),
    get: async (ctx, id) => withTarget(ctx, await plain.get(ctx, id)),
    create: (ctx, body) => addFavorite(ctx, body),
    async update(ctx, id, patch, ifMatch) {
      const set = await plain.update(ctx, id, patch, ifMatch);
      return { ...set, body: await withTarget(ctx, set.body as FavoriteResponse) };
    },
  },
  routes: [
    defineRoute({
      method: 'POST',
      path: '/api/v1/favorites',
      name: 'favorites.create',
      summary: 'Add a favorite',
      description: `If the object is already a favorite, returns that favorite unchanged (200). A member has at most ${favoritesMax} favorites.`,
      scope: 'preferences:write',
      limit: 'write',
      body: schemasOf(favorite).create,
      example: { type: 'issue', targetId: 'ENG-42' },
      responses: { 201: schemasOf(favorite).response, 200: schemasOf(favorite).response },
      errors: ['forbidden', 'conflict'],
      write: (ctx, { body }) => addFavorite(ctx, body),
    }),
  ],
});
