// Takes changes back, the newest first: each value that still is what the change made of it becomes what it was before. What others
// changed since stays, and is said.
import type { Entity } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import type { EventRow } from '../../events/event.ts';
import type { Cause } from '../../events/origin.ts';
import type { skipReasons } from './contract.ts';
import { isGone, workOn, leadsBack, tellsDeletion } from './guards.ts';
import { keyOf, type KeptChange } from './kept.ts';
import { contractOf, referredKind, type UndoKinds, type UndoneKind } from './kinds.ts';
import { neededFor } from './together.ts';
import { differing, fieldOf, isSame, valueOf, valuesOf, type Values } from './values.ts';

type SkipReason = (typeof skipReasons)[number];

export interface Skip {
  readonly change: KeptChange;
  /** As the row keeps it; null of the whole object. */
  readonly field: string | null;
  readonly reason: SkipReason;
  /** What others did with it, where that is no change of its own: an event, or the id of a part. */
  readonly work?: EventRow | string;
}

/** An object on its way back. */
export interface Folded {
  readonly kind: UndoneKind;
  /** As it is now. */
  readonly entity: Entity;
  /** Its values as they will be. */
  readonly values: Map<string, unknown>;
  readonly moved: Map<string, unknown>;
  isRemoved: boolean;
  /** Of the newest change that is taken back; null while nothing is. */
  cause: Cause | null;
}

export interface Fold {
  readonly objects: ReadonlyMap<string, Folded>;
  readonly skipped: readonly Skip[];
}

interface Folding {
  readonly ctx: Context;
  readonly kinds: UndoKinds;
  readonly objects: Map<string, Folded>;
  readonly skipped: Skip[];
}

/** @param changes the newest first */
export async function foldChanges(
  ctx: Context,
  kinds: UndoKinds,
  changes: readonly KeptChange[],
): Promise<Fold> {
  const folding: Folding = { ctx, kinds, objects: new Map(), skipped: [] };
  for (const change of changes) await takeBack(folding, change);
  return folding;
}

async function takeBack(folding: Folding, change: KeptChange): Promise<void> {
  const { ctx, kinds, objects, skipped } = folding;
  const skip: SkipIt = (reason, field = null, work) =>
    void skipped.push({ change, field, reason, ...(work === undefined ? {} : { work }) });
  const kind = kinds.named(change.kind);
  if (!kind || typeof contractOf(change.kind)?.undo !== 'string') return skip('irreversible');
  const known = objects.get(keyOf(change));
  const entity = known?.entity ?? (await kind.find(ctx, change.id));
  if (!entity) return skip('gone');
  const folded = known ?? begin(kind, entity);
  objects.set(keyOf(change), folded);
  if (await isGone(folding, folded, change)) return skip('deleted');
  if (change.before === null) return takeBackCreation(folding, folded, change, skip);
  return takeBackValues(folding, folded, { ...change, before: change.before }, skip);
}

function begin(kind: UndoneKind, entity: Entity): Folded {
  return {
    kind,
    entity,
    values: valuesOf(entity, kind.follows?.fields),
    moved: new Map(),
    isRemoved: false,
    cause: null,
  };
}

type SkipIt = (reason: SkipReason, field?: string | null, work?: EventRow | string) => void;

async function takeBackCreation(
  { ctx, objects }: Folding,
  folded: Folded,
  change: KeptChange,
  skip: SkipIt,
): Promise<void> {
  if (valueOf(folded.values, 'deletedAt') !== null) return;
  if (!folded.kind.keepsDeleted) return skip('irreversible');
  if (differing(valuesOf(change.after, folded.kind.follows?.fields), folded.values).length > 0)
    return skip('worked_on');
  const work = await workOn(ctx, folded, change, objects);
  if (work !== null) return skip('worked_on', null, work);
  folded.isRemoved = true;
  folded.cause ??= change.cause;
}

async function takeBackValues(
  { ctx, kinds }: Folding,
  folded: Folded,
  change: KeptChange & { readonly before: Entity },
  skip: SkipIt,
): Promise<void> {
  const { follows } = folded.kind;
  const [before, after] = [valuesOf(change.before, follows?.fields), valuesOf(change.after, follows?.fields)];
  const names = differing(before, after);
  const changed = new Set(names.map(fieldOf));
  const said = new Set<string>();
  const skipOnce = (reason: SkipReason, field: string): void => {
    if (!said.has(field)) skip(reason, field);
    said.add(field);
  };
  // Compared with all of it as it is now: what is put back first must not stand in the way of the rest.
  const now: Values = new Map(folded.values);
  for (const name of names) {
    const field = fieldOf(name);
    if (!isSame(now, after, name)) {
      // What has become of it what it was before needs no undo.
      if (!isSame(now, before, name)) skipOnce('changed', field);
      continue;
    }
    const reason = await hindrance({ ctx, kinds }, { folded, change, changed, now, after, name });
    if (reason) {
      skipOnce(reason, field);
      continue;
    }
    const value = valueOf(before, name);
    folded.values.set(name, value);
    folded.moved.set(name, value);
    if (name === follows?.from)
      for (const each of follows.fields)
        if (each in change.before) folded.moved.set(each, change.before[each as keyof Entity]);
    folded.cause ??= change.cause;
  }
}

interface Moving {
  readonly folded: Folded;
  readonly change: KeptChange & { readonly before: Entity };
  readonly changed: ReadonlySet<string>;
  readonly now: Values;
  readonly after: Values;
  readonly name: string;
}

/** Why a value cannot be put back, though nobody changed it. */
async function hindrance(
  { ctx, kinds }: Pick<Folding, 'ctx' | 'kinds'>,
  { folded, change, changed, now, after, name }: Moving,
): Promise<SkipReason | null> {
  const field = fieldOf(name);
  const needed = new Set(neededFor(change.kind, field, changed));
  const isNeeded = (other: string): boolean => needed.has(fieldOf(other));
  if (differing(now, after).some(isNeeded)) return 'bound';
  if (name === 'deletedAt') {
    const isBack = valueOf(valuesOf(change.before), name) === null;
    return isBack && !canComeBack(kinds, folded.kind) ? 'irreversible' : null;
  }
  return pointsNowhere({ ctx, kinds }, folded, change, name);
}

function canComeBack(kinds: UndoKinds, { name, comesBack }: UndoneKind): boolean {
  if (contractOf(name)?.undo === 'operations') return kinds.operation(name, 'restore') !== undefined;
  return tellsDeletion(name) || comesBack !== undefined;
}

/** Why a reference cannot be put back: what it names is gone, or below the object itself. */
async function pointsNowhere(
  { ctx, kinds }: Pick<Folding, 'ctx' | 'kinds'>,
  folded: Folded,
  change: KeptChange & { readonly before: Entity },
  name: string,
): Promise<SkipReason | null> {
  const field = fieldOf(name);
  const to = referredKind(change.kind, field);
  const value = valueOf(valuesOf(change.before), name);
  if (to === undefined || value === null) return null;
  const id = name === field ? String(value) : name.slice(field.length + 1);
  const target = (await kinds.named(to)?.find(ctx, id)) as { deletedAt?: number | null } | undefined;
  if (!target || (target.deletedAt ?? null) !== null) return 'gone';
  return to === change.kind && (await leadsBack(ctx, folded, field, id)) ? 'bound' : null;
}
