// Steps that most operations share: get or 404, check the precondition, turn an update into a change set.
import type { Context } from '../context.ts';
import { ApiError, notFound } from '../../platform/lib/errors/errors.ts';
import type { ChangeSet, Entity, NewEntity } from './change.ts';
import type { EntityModel } from './model.ts';
import { dayMs } from '../../platform/lib/time/time.ts';

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
    ? { changes: [change], body: model.wire(change.after, ctx) }
    : { changes: [], body: model.wire(before, ctx) };
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
    body: model.wire(change.after, ctx),
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

let cachedDay = { day: Number.NaN, text: '' };
