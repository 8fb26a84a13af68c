// The changes that an undo makes of what was folded, and how they are shown.
import type { Change, Entity } from '../../changes/change.ts';
import { previousValues } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { short } from '../../changes/diff.ts';
import type { Fold, Folded, Skip } from './fold.ts';
import { tellsDeletion } from './guards.ts';
import type { UndoKinds } from './kinds.ts';
import { patchOf } from './values.ts';

export interface Undoing {
  readonly changes: readonly Change[];
  readonly shown: readonly ShownChange[];
  readonly skipped: readonly Skip[];
}

interface ShownChange {
  readonly kind: string;
  readonly id: string;
  readonly issue: { readonly id: string; readonly identifier: string | null } | null;
  readonly action: 'update' | 'remove' | 'restore';
  readonly fields: readonly { readonly field: string; readonly from: unknown; readonly to: unknown }[];
}

export async function undoing(ctx: Context, kinds: UndoKinds, { objects, skipped }: Fold): Promise<Undoing> {
  const changes: Change[] = [];
  const shown: ShownChange[] = [];
  const left = [...skipped];
  for (const folded of objects.values()) {
    const { cause } = folded;
    if (cause === null) continue;
    const made = folded.isRemoved ? await removal(ctx, kinds, folded) : await update(ctx, folded);
    if (made === null) left.push(irreversible(folded));
    else {
      changes.push(...made.map((change) => ({ ...change, cause })));
      shown.push(showChange(ctx, folded, made));
    }
  }
  return {
    changes,
    shown: shown.filter(({ action, fields }) => action !== 'update' || fields.length > 0),
    skipped: left,
  };
}

/** Null where it cannot come back. */
async function update(ctx: Context, { kind, entity, moved }: Folded): Promise<readonly Change[] | null> {
  if (moved.has('deletedAt') && kind.comesBack)
    return orNull(async () => [await kind.comesBack!(ctx, entity)]);
  const patch = patchOf(entity, moved);
  // A number is one of a team, and taken when the issue comes there.
  if ('teamId' in patch && 'number' in entity) patch.number = null;
  const change = kind.update(entity, patch as Partial<Entity>, ctx.nowMs());
  return change ? [change] : [];
}

/** Null where nothing deletes such an object. */
async function removal(
  ctx: Context,
  kinds: UndoKinds,
  { kind, entity }: Folded,
): Promise<readonly Change[] | null> {
  if (!tellsDeletion(kind.name)) return orNull(() => kinds.remove(ctx, kind.name, entity.id));
  const now = ctx.nowMs();
  const change = kind.update(entity, { deletedAt: now } as object as Partial<Entity>, now);
  return change ? [change] : [];
}

/** Null where it is refused. */
async function orNull<Made>(make: () => Promise<Made>): Promise<Made | null> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

function irreversible({ kind, entity, cause }: Folded): Skip {
  const change = { kind: kind.name, id: entity.id, before: null, after: entity, cause: cause! };
  return { change, field: null, reason: 'irreversible' };
}

function showChange(
  ctx: Context,
  { kind, entity, isRemoved, moved }: Folded,
  made: readonly Change[],
): ShownChange {
  const base = { kind: kind.name, id: entity.id, issue: issueOf(ctx, kind, entity) };
  if (isRemoved) return { ...base, action: 'remove', fields: [] };
  const after = made[0]?.after;
  const [from, to] = [kind.wire(entity, ctx), kind.wire(after ?? entity, ctx)];
  const fields = Object.keys(previousValues(from, to)).map((field) => ({
    field,
    from: short(from[field]),
    to: short(to[field]),
  }));
  if (moved.has('deletedAt'))
    return { ...base, action: moved.get('deletedAt') === null ? 'restore' : 'remove', fields };
  return { ...base, action: 'update', fields };
}

/** The issue that an object is or is on. */
export function issueOf(ctx: Context, kind: Folded['kind'], entity: Entity): ShownChange['issue'] {
  const shown = kind.wire(entity, ctx) as {
    identifier?: string | null;
    issue?: { id?: string; identifier?: string | null } | null;
  };
  if (kind.name === 'issue') return { id: entity.id, identifier: shown.identifier ?? null };
  return shown.issue?.id === undefined
    ? null
    : { id: shown.issue.id, identifier: shown.issue.identifier ?? null };
}
