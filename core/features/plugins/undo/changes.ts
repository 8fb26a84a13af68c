// Turns a revert plan into the changes of an undo, and into their API representation.
import { type Change, type Entity, previousValues, short } from '../../../kernel/changes/change.ts';
import type { RequestedWrite } from '../../../kernel/changes/staging.ts';
import type { Context } from '../../../kernel/context.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { Op } from '../../../platform/store/store.ts';
import type { RevertPlan, RevertedObject, Skip } from './revert-plan.ts';
import { emitsDeletion, patchOf } from './guards.ts';
import { contractOf, inputNameOf, type Operated, type UndoModels } from './models.ts';

export interface Undoing {
  readonly changes: readonly Change[];
  /** Ops of the API operations that the undo performed. */
  readonly ops: readonly Op[];
  readonly represented: readonly UndoChangeResponse[];
  readonly skipped: readonly Skip[];
}

interface UndoChangeResponse {
  readonly kind: string;
  readonly id: string;
  readonly issue: { readonly id: string; readonly identifier: string | null } | null;
  readonly action: 'update' | 'remove' | 'restore';
  readonly fields: readonly { readonly field: string; readonly from: unknown; readonly to: unknown }[];
}

/** @throws ApiError if a required operation is refused to the person who undoes */
export async function undoing(
  ctx: Context,
  models: UndoModels,
  { objects, skipped }: RevertPlan,
): Promise<Undoing> {
  const changes: Change[] = [];
  const ops: Op[] = [];
  const represented: UndoChangeResponse[] = [];
  const left = [...skipped];
  for (const reverted of objects.values()) {
    const { cause } = reverted;
    if (cause === null) continue;
    const operated = await takenBack(ctx, models, reverted);
    if (operated === null) left.push(irreversible(reverted));
    else if (operated.changes.length > 0) {
      changes.push(...operated.changes.map((change) => ({ ...change, cause })));
      ops.push(...operated.ops);
      const own = operated.changes.find(({ id }) => id === reverted.entity.id)?.after ?? reverted.entity;
      represented.push(showChange(ctx, reverted, own));
    }
  }
  return { changes, ops, represented, skipped: left };
}

/** Returns the changes that revert an object; null if it cannot be reverted. */
async function takenBack(
  ctx: Context,
  models: UndoModels,
  reverted: RevertedObject,
): Promise<Operated | null> {
  if (contractOf(reverted.model.name)?.undo === 'operations') {
    const request = requestOf(ctx, models, reverted);
    return request && models.ask(ctx, reverted.cause!, [request]);
  }
  return reverted.isRemoved ? removal(ctx, models, reverted) : update(ctx, models, reverted);
}

/**
 * Returns the API request that reverts a write to a member, app, plugin, webhook or the workspace, so that all rules of these entities
 * apply. docs/decisions/0073. Null if no operation can revert it.
 */
function requestOf(ctx: Context, models: UndoModels, reverted: RevertedObject): RequestedWrite | null {
  const { model, entity, isRemoved, moved } = reverted;
  const deletedAt = moved.get('deletedAt');
  const isDeleted = isRemoved || (moved.has('deletedAt') && deletedAt !== null);
  const name = isDeleted ? 'delete' : deletedAt === null ? 'restore' : 'update';
  const route = models.operation(model.name, name);
  if (!route) return null;
  const body = name === 'update' ? bodyOf(ctx, reverted) : undefined;
  const params = route.params ? { id: entity.id } : {};
  const input = { params, query: {}, ifMatch: entity.version, ...(body ? { body } : {}) };
  return { operation: route.name, input, ids: [] };
}

/** Returns the reverted values, by their names in request bodies. */
function bodyOf(ctx: Context, { model, entity, moved }: RevertedObject): Record<string, unknown> {
  const patch = patchOf(entity, moved);
  const reverted = { ...entity, ...patch };
  const body: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(patch)) {
    if (model.follows?.fields.includes(field)) continue;
    body[inputNameOf(model, field)] = model.inputs?.[field]?.valueOf(reverted, ctx) ?? value;
  }
  return body;
}

const alone = (change: Change | null): Operated => ({ changes: change ? [change] : [], ops: [] });

/** Returns null if a deletion or restoration cannot be reverted. */
async function update(ctx: Context, models: UndoModels, reverted: RevertedObject): Promise<Operated | null> {
  const { model, entity, moved } = reverted;
  if (moved.has('deletedAt') && model.comesBack)
    return moved.get('deletedAt') === null
      ? orNull(async () => alone(await model.comesBack!(ctx, entity)))
      : removal(ctx, models, reverted);
  const patch = patchOf(entity, moved);
  // Issue numbers belong to a team, so an issue that the undo moves to another team gets a new number.
  if ('teamId' in patch && 'number' in entity) patch.number = null;
  return alone(model.update(entity, patch as Partial<Entity>, ctx.nowMs()));
}

/** Returns null if the object cannot be deleted. */
async function removal(ctx: Context, models: UndoModels, reverted: RevertedObject): Promise<Operated | null> {
  const { model, entity } = reverted;
  if (!emitsDeletion(model.name)) {
    const request = requestOf(ctx, models, reverted);
    return request && orNull(() => models.ask(ctx, reverted.cause!, [request]));
  }
  const now = ctx.nowMs();
  return alone(model.update(entity, { deletedAt: now } as object as Partial<Entity>, now));
}

/** Returns null if the operation is refused. */
async function orNull<Made>(make: () => Promise<Made>): Promise<Made | null> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

function irreversible({ model, entity, cause }: RevertedObject): Skip {
  const change = { kind: model.name, id: entity.id, before: null, after: entity, cause: cause! };
  return { change, field: null, reason: 'irreversible' };
}

function showChange(
  ctx: Context,
  { model, entity, isRemoved, moved }: RevertedObject,
  after: Entity,
): UndoChangeResponse {
  const base = { kind: model.name, id: entity.id, issue: issueOf(ctx, model, entity) };
  if (isRemoved) return { ...base, action: 'remove', fields: [] };
  const [from, to] = [model.toResponse(entity, ctx), model.toResponse(after, ctx)];
  const inputs = [...moved.keys()].flatMap((field) => model.inputs?.[field]?.name ?? []);
  // Two addresses can differ only in their masked values.
  const names = new Set([...Object.keys(previousValues(from, to)), ...inputs.filter((name) => name in to)]);
  const fields = [...names].map((field) => ({
    field,
    from: short(from[field]),
    to: short(to[field]),
  }));
  if (moved.has('deletedAt'))
    return { ...base, action: moved.get('deletedAt') === null ? 'restore' : 'remove', fields };
  return { ...base, action: 'update', fields };
}

/** Returns the issue itself, or the issue of an object. */
export function issueOf(
  ctx: Context,
  model: RevertedObject['model'],
  entity: Entity,
): UndoChangeResponse['issue'] {
  const represented = model.toResponse(entity, ctx) as {
    identifier?: string | null;
    issue?: { id?: string; identifier?: string | null } | null;
  };
  if (model.name === 'issue') return { id: entity.id, identifier: represented.identifier ?? null };
  return represented.issue?.id === undefined
    ? null
    : { id: represented.issue.id, identifier: represented.issue.identifier ?? null };
}
