// Compares the single values of an object, and checks for reasons that prevent an undo.
import { sameValue, type Entity } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { eventsAt } from '../../../kernel/events/log/log.ts';
import { composedStatement, tenantStatement } from '../../../platform/store/statement.ts';
import type { RevertedObject } from './revert-plan.ts';
import { keyOf, type StoredChange } from './packed-changes.ts';
import { apiNamesOf, contractOf, type UndoModel, type UndoModels } from './models.ts';

/** Keyed by field name of the row; a part of a field has the key `field/part`. */
export type FieldValueMap = ReadonlyMap<string, unknown>;

/** Base fields, fields joined from other rows, commit-assigned fields, and fields that the server derives. */
const notOwn: ReadonlySet<string> = new Set([
  'id',
  'version',
  'createdAt',
  'updatedAt',
  'number',
  'parentPlace',
  'issuePlace',
  'from',
  'to',
  'slaDueAt',
]);

const isList = (name: string, value: unknown): value is readonly string[] =>
  name.endsWith('Ids') && Array.isArray(value);
const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param model its derived fields are left out; absent for all fields */
export function valuesOf(entity: Entity, model?: UndoModel): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(entity)) {
    if (notOwn.has(name) || (model && isDerived(model, name))) continue;
    if (isList(name, value)) for (const id of value) values.set(`${name}/${id}`, true);
    else if (name === 'fieldValues') for (const [key, one] of mapOf(value)) values.set(`${name}/${key}`, one);
    else values.set(name, value);
  }
  return values;
}

/** Fields that the API neither takes nor shows follow from the operations that revert an object, such as the owner of a webhook. */
const isDerived = ({ name: kind, follows, inputs = {} }: UndoModel, name: string): boolean =>
  follows?.fields.includes(name) ||
  (contractOf(kind)?.undo === 'operations' && !(name in inputs) && apiNamesOf(kind, [name]).length === 0);

const mapOf = (value: unknown): [string, unknown][] => (isMap(value) ? Object.entries(value) : []);

/** Absent values count as null, such as a missing label or a custom field without a value. */
export const valueOf = (values: FieldValueMap, name: string): unknown => values.get(name) ?? null;

export function isSame(values: FieldValueMap, others: FieldValueMap, name: string): boolean {
  return sameValue(valueOf(values, name), valueOf(others, name));
}

export function differing(before: FieldValueMap, after: FieldValueMap): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => !isSame(before, after, name));
}

/** Returns the field of a value name such as `labelIds/lbl_…`. */
export const fieldOf = (name: string): string => name.split('/', 1)[0]!;

/** Returns the patch for `model.update`: the fields of an entity with some of their values changed. */
export function patchOf(entity: Entity, moved: FieldValueMap): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const [name, value] of moved) {
    const field = fieldOf(name);
    if (field === name) {
      patch[field] = value;
      continue;
    }
    const part = name.slice(field.length + 1);
    const was = (patch[field] ?? entity[field as keyof Entity] ?? null) as unknown;
    patch[field] =
      isList(field, was) || field.endsWith('Ids') ? listWith(was, part, value) : mapWith(was, part, value);
  }
  return patch;
}

function listWith(was: unknown, id: string, isIn: unknown): string[] {
  const others = (Array.isArray(was) ? (was as string[]) : []).filter((one) => one !== id);
  return (isIn === null ? others : [...others, id]).sort();
}

function mapWith(was: unknown, key: string, value: unknown): Record<string, unknown> | null {
  const others = mapOf(was).filter(([name]) => name !== key);
  const all = value === null ? others : [...others, [key, value] as [string, unknown]];
  return all.length === 0 ? null : Object.fromEntries(all);
}

/** Limit of events of an object that are searched for work by others. */
const lookedAt = 200;
/** Limit of ancestors that are followed. */
const above = 100;

const newestOfSubject = tenantStatement<{ sequence: number }>(
  'undo.newest_of_subject',
  `SELECT sequence FROM events INDEXED BY events_issue WHERE workspace_id = :ws AND issue_id = :subjectId AND entity_id <> :subjectId
     ORDER BY sequence DESC LIMIT ${lookedAt}`,
);

/** True if the object or its issue is deleted; then only its restoration can be undone. */
export async function isGone(
  plan: {
    readonly ctx: Context;
    readonly models: UndoModels;
    readonly objects: ReadonlyMap<string, RevertedObject>;
  },
  reverted: RevertedObject,
  change: StoredChange,
): Promise<boolean> {
  if (await isIssueGone(plan, reverted.entity)) return true;
  if (change.before === null || valueOf(reverted.values, 'deletedAt') === null) return false;
  return deletedAtOf(change.before) === deletedAtOf(change.after);
}

async function isIssueGone(
  { ctx, models, objects }: Parameters<typeof isGone>[0],
  { issueId, fromId }: Entity & { readonly issueId?: string | null; readonly fromId?: string },
): Promise<boolean> {
  // A comment can be on a project update, and a relation connects two issues.
  for (const id of [issueId, fromId]) {
    if (id === undefined || id === null) continue;
    const known = objects.get(keyOf({ kind: 'issue', id }));
    const issue = known ? undefined : await models.byName('issue')?.find(ctx, id);
    const deletedAt = known ? valueOf(known.values, 'deletedAt') : issue ? deletedAtOf(issue) : undefined;
    if (deletedAt !== null) return true;
  }
  return false;
}

const deletedAtOf = (entity: Entity): unknown => (entity as { deletedAt?: number | null }).deletedAt ?? null;

/**
 * Returns the work of others on an object that a run created (comments, files, children): the newest event, or the id of a child. Null if
 * there is none. Work of the plugin itself does not count.
 */
export async function workOn(
  ctx: Context,
  { model, entity }: RevertedObject,
  change: StoredChange,
  objects: ReadonlyMap<string, RevertedObject>,
): Promise<EventRow | string | null> {
  if ('parentId' in entity) {
    const child = await childOf(ctx, model.table, entity.id, change, objects);
    if (child !== undefined) return child;
  }
  const own = new Set(change.cause.path.slice(-1).map(installIn));
  const rows = await ctx.store.read(ctx.scope, newestOfSubject, { subjectId: entity.id });
  const events = await eventsAt(
    ctx.store,
    ctx.scope,
    rows.map(({ sequence }) => sequence),
  );
  const work = events.filter(
    ({ actor, cause, entityType }) =>
      actor.kind !== 'system' &&
      entityType !== 'subscriber' &&
      !own.has(actor.id) &&
      // Excludes work of the plugin that a person restored by undoing an undo.
      !(actor.kind !== 'plugin' && cause.path.some((step) => own.has(installIn(step)))),
  );
  return work.sort((a, b) => b.sequence - a.sequence)[0] ?? null;
}

/** Returns the install of a chain step such as `plg_…:iss_…`. */
const installIn = (step: string): string => step.split(':', 1)[0]!;

async function childOf(
  ctx: Context,
  table: string,
  id: string,
  { kind }: StoredChange,
  objects: ReadonlyMap<string, RevertedObject>,
): Promise<string | undefined> {
  const children = composedStatement<{ id: string }>(
    `SELECT id FROM ${table} WHERE workspace_id = :ws AND parent_id = :id AND deleted_at IS NULL LIMIT ${lookedAt}`,
  );
  const rows = await ctx.store.read(ctx.scope, children, { id });
  return rows.find((child) => {
    const reverted = objects.get(keyOf({ kind, id: child.id }));
    return !reverted || (!reverted.isRemoved && valueOf(reverted.values, 'parentId') === id);
  })?.id;
}

/** True if the object would become its own ancestor. */
export async function leadsBack(
  ctx: Context,
  { model, entity }: RevertedObject,
  field: string,
  id: string,
): Promise<boolean> {
  let at: string | null = id;
  for (let steps = 0; at !== null && steps < above; steps++) {
    if (at === entity.id) return true;
    const ancestor: Entity | undefined = await model.find(ctx, at);
    at = ancestor ? (valueOf(valuesOf(ancestor), field) as string | null) : null;
  }
  return false;
}

/** True if the entity has a separate event type for deletions. */
export const emitsDeletion = (kind: string): boolean => contractOf(kind)?.events.deleted !== undefined;
