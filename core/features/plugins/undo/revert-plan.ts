// Reverts stored changes, newest first: each value that is still as the change left it gets its previous value. Values that others changed
// since are skipped and reported.
import type { Entity } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import type { EventRow, Cause } from '../../../kernel/events/event.ts';
import type { skipReasons } from '../contract.ts';
import {
  isGone,
  workOn,
  leadsBack,
  emitsDeletion,
  differing,
  fieldOf,
  isSame,
  valueOf,
  valuesOf,
  type FieldValueMap,
} from './guards.ts';
import { keyOf, type StoredChange } from './packed-changes.ts';
import { contractOf, referencedKind, type UndoModels, type UndoModel } from './models.ts';

type SkipReason = (typeof skipReasons)[number];

export interface Skip {
  readonly change: StoredChange;
  /** Field name of the row; null for the whole object. */
  readonly field: string | null;
  readonly reason: SkipReason;
  /** Later work of others on the object: an event, or the id of a child. */
  readonly work?: EventRow | string;
}

export interface RevertedObject {
  readonly model: UndoModel;
  /** State of the object before the undo. */
  readonly entity: Entity;
  /** Values after the undo so far. */
  readonly values: Map<string, unknown>;
  readonly moved: Map<string, unknown>;
  isRemoved: boolean;
  /** Cause of the newest reverted change; null while none is. */
  cause: Cause | null;
}

export interface RevertPlan {
  readonly objects: ReadonlyMap<string, RevertedObject>;
  readonly skipped: readonly Skip[];
}

interface Lookup {
  readonly ctx: Context;
  readonly models: UndoModels;
}

interface PlanInProgress extends Lookup {
  readonly objects: Map<string, RevertedObject>;
  readonly skipped: Skip[];
}

/** @param changes newest first */
export async function planRevert(
  ctx: Context,
  models: UndoModels,
  changes: readonly StoredChange[],
): Promise<RevertPlan> {
  const plan: PlanInProgress = { ctx, models, objects: new Map(), skipped: [] };
  for (const change of changes) await takeBack(plan, change);
  return plan;
}

async function takeBack(plan: PlanInProgress, change: StoredChange): Promise<void> {
  const { ctx, models, objects, skipped } = plan;
  const skip: SkipIt = (reason, field = null, work) =>
    void skipped.push({ change, field, reason, ...(work === undefined ? {} : { work }) });
  const model = models.byName(change.kind);
  if (!model || typeof contractOf(change.kind)?.undo !== 'string') return skip('irreversible');
  const known = objects.get(keyOf(change));
  const entity = known?.entity ?? (await model.find(ctx, change.id));
  if (!entity) return skip('gone');
  const reverted = known ?? begin(model, entity);
  objects.set(keyOf(change), reverted);
  if (await isGone(plan, reverted, change)) return skip('deleted');
  if (change.before === null) return takeBackCreation(plan, reverted, change, skip);
  return takeBackValues(plan, reverted, { ...change, before: change.before }, skip);
}

function begin(model: UndoModel, entity: Entity): RevertedObject {
  return {
    model,
    entity,
    values: valuesOf(entity, model),
    moved: new Map(),
    isRemoved: false,
    cause: null,
  };
}

type SkipIt = (reason: SkipReason, field?: string | null, work?: EventRow | string) => void;

async function takeBackCreation(
  { ctx, objects }: PlanInProgress,
  reverted: RevertedObject,
  change: StoredChange,
  skip: SkipIt,
): Promise<void> {
  if (valueOf(reverted.values, 'deletedAt') !== null) return;
  if (!reverted.model.retainsDeleted) return skip('irreversible');
  if (differing(valuesOf(change.after, reverted.model), reverted.values).length > 0) return skip('worked_on');
  const work = await workOn(ctx, reverted, change, objects);
  if (work !== null) return skip('worked_on', null, work);
  reverted.isRemoved = true;
  reverted.cause ??= change.cause;
}

async function takeBackValues(
  { ctx, models }: PlanInProgress,
  reverted: RevertedObject,
  change: StoredChange & { readonly before: Entity },
  skip: SkipIt,
): Promise<void> {
  const { model } = reverted;
  const { follows } = model;
  const [before, after] = [valuesOf(change.before, model), valuesOf(change.after, model)];
  const names = differing(before, after);
  const changed = new Set(names.map(fieldOf));
  const said = new Set<string>();
  const skipOnce = (reason: SkipReason, field: string): void => {
    if (!said.has(field)) skip(reason, field);
    said.add(field);
  };
  // The comparison uses a copy of the present values, because a value that was just reverted must not block
  // the others.
  const now: FieldValueMap = new Map(reverted.values);
  for (const name of names) {
    const field = fieldOf(name);
    if (!isSame(now, after, name)) {
      // A value that already equals its previous one needs no undo.
      if (!isSame(now, before, name)) skipOnce('changed', field);
      continue;
    }
    const reason = await hindrance({ ctx, models }, { reverted, change, changed, now, after, name });
    if (reason) {
      skipOnce(reason, field);
      continue;
    }
    const value = valueOf(before, name);
    reverted.values.set(name, value);
    reverted.moved.set(name, value);
    if (name === follows?.from)
      for (const each of follows.fields) reverted.moved.set(each, change.before[each as keyof Entity]);
    reverted.cause ??= change.cause;
  }
}

interface Moving {
  readonly reverted: RevertedObject;
  readonly change: StoredChange & { readonly before: Entity };
  readonly changed: ReadonlySet<string>;
  readonly now: FieldValueMap;
  readonly after: FieldValueMap;
  readonly name: string;
}

/** Group of interdependent fields that an undo reverts together or not at all. */
interface Bond {
  readonly fields: readonly string[];
  /**
   * If set, the whole group applies only if the change modified this field; otherwise only this field must be
   * unchanged since.
   */
  readonly lead?: string;
}

/** Keyed by entity. Other entities that plugins write have no such rules. */
const bonds: Readonly<Record<string, readonly Bond[]>> = {
  issue: [
    // A milestone belongs to a project; states, cycles and some labels belong to a team.
    { fields: ['projectId', 'milestoneId'], lead: 'projectId' },
    { fields: ['teamId', 'stateId', 'cycleId', 'labelIds'], lead: 'teamId' },
  ],
  comment: [
    { fields: ['body', 'mentionIds', 'editedAt'] },
    { fields: ['resolvedAt', 'resolvedByKind', 'resolvedById', 'resolvedByName'] },
  ],
  release: [{ fields: ['status', 'publishedAt'] }],
};

/**
 * Returns the fields that must be unchanged since the change before `field` can be reverted.
 * @param changed fields that the change modified
 */
function neededFor(kind: string, field: string, changed: ReadonlySet<string>): readonly string[] {
  return (bonds[kind] ?? [])
    .filter(({ fields }) => fields.includes(field))
    .flatMap(({ fields, lead }) => (lead === undefined || changed.has(lead) ? fields : [lead]));
}

/** Returns why a value cannot be reverted although nobody changed it; null if it can. */
async function hindrance(
  { ctx, models }: Lookup,
  { reverted, change, changed, now, after, name }: Moving,
): Promise<SkipReason | null> {
  const field = fieldOf(name);
  const needed = new Set(neededFor(change.kind, field, changed));
  const isNeeded = (other: string): boolean => needed.has(fieldOf(other));
  if (differing(now, after).some(isNeeded)) return 'bound';
  if (name === 'deletedAt') {
    const isBack = valueOf(valuesOf(change.before), name) === null;
    return isBack && !canComeBack(models, reverted.model) ? 'irreversible' : null;
  }
  // Values of a change belong together if no operation reverts one of them: a grant to the version of its plugin.
  if (
    contractOf(change.kind)?.undo === 'operations' &&
    [...changed].some((one) => !models.takes(reverted.model, one))
  )
    return 'irreversible';
  return pointsNowhere({ ctx, models }, reverted, change, name);
}

function canComeBack(models: UndoModels, { name, comesBack }: UndoModel): boolean {
  if (contractOf(name)?.undo === 'operations') return models.operation(name, 'restore') !== undefined;
  return emitsDeletion(name) || comesBack !== undefined;
}

/** Returns why a reference cannot be restored: its target is gone, or is below the object itself. Null if it can. */
async function pointsNowhere(
  { ctx, models }: Lookup,
  reverted: RevertedObject,
  change: StoredChange & { readonly before: Entity },
  name: string,
): Promise<SkipReason | null> {
  const field = fieldOf(name);
  const to = referencedKind(change.kind, field);
  const value = valueOf(valuesOf(change.before), name);
  if (to === undefined || value === null) return null;
  const id = name === field ? String(value) : name.slice(field.length + 1);
  const target = (await models.byName(to)?.find(ctx, id)) as { deletedAt?: number | null } | undefined;
  if (!target || (target.deletedAt ?? null) !== null) return 'gone';
  return to === change.kind && (await leadsBack(ctx, reverted, field, id)) ? 'bound' : null;
}
