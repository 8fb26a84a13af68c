// Undoes runs, approved proposals and undos in one commit, which has an event and can itself be undone.
// docs/spec/plugins.md › Undo.
import { type Entity, type ChangeSet, short, announce } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import type { EventRow, Cause } from '../../../kernel/events/event.ts';
import { eventsAt } from '../../../kernel/events/log/log.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { issueOf, undoing } from './changes.ts';
import { type Skip, planRevert } from './revert-plan.ts';
import { keyOf, type ObjectName, type StoredChange } from './packed-changes.ts';
import {
  storeChangesOps,
  storedChangesOf,
  markOp,
  readChanges,
  type StoredChangesRow,
} from './stored-changes.ts';
import { apiNameOf, type UndoModel, type UndoModels, contractOf } from './models.ts';
import { ApiError, invalidField, notFound } from '../../../platform/lib/errors/errors.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import type { Op } from '../../../platform/store/store.ts';
import { proposalModel } from '../../proposals/index.ts';
import { takeApprovalsBack } from '../trial/proposals.ts';
import { findRun } from '../runs/rows.ts';

/** Limit of undone runs and proposals per request. */
export const undoneAtOnce = 200;
/** Limit of changes per undo. */
const changesMax = 2_000;

/** Undoes one run, proposal or undo. @throws ApiError not_found if no changes of it are stored */
export async function undoOne(ctx: Context, models: UndoModels, id: string): Promise<ChangeSet> {
  const [row] = await storedChangesOf(ctx.store, ctx.scope, [id]);
  if (!row) throw await nothingStored(ctx, id);
  if (row.undone_by !== null)
    return nothing(
      [id],
      `${id} was already undone by ${row.undone_by}. Undo ${row.undone_by} to restore its changes.`,
    );
  return undoAll(ctx, models, [row]);
}

async function nothingStored(ctx: Context, id: string): Promise<ApiError> {
  const runOrProposal = (await findRun(ctx.store, ctx.scope, id)) ?? (await proposalModel.find(ctx, id));
  if (!runOrProposal) return notFound();
  return new ApiError(
    'not_found',
    `${id} cannot be undone: it changed nothing, or its changes are older than the retention period. Revert them by hand.`,
  );
}

/** @param rows newest first, none of them undone */
export async function undoAll(
  ctx: Context,
  models: UndoModels,
  rows: readonly StoredChangesRow[],
): Promise<ChangeSet> {
  if (rows.length > undoneAtOnce)
    throw invalidField('since', 'too_big', {
      why: `More than ${undoneAtOnce} runs made changes in this range.`,
      fix: 'Use a later `since` to undo the newest first, then go further back.',
    });
  const undid = rows.map(({ id }) => id);
  const changes = await changesOf(ctx, rows);
  const plan = await planRevert(ctx, models, changes);
  const { changes: undoChanges, ops, represented, skipped: left } = await undoing(ctx, models, plan);
  if (undoChanges.length === 0) requireReversible(left);
  const skipped = await showSkipped(ctx, models, left, {
    after: new Map(undoChanges.map((change) => [keyOf(change), change.after])),
    undone: new Set(changes.flatMap(({ cause }) => cause.parentRunId ?? [])),
  });
  if (undoChanges.length === 0) return nothing(undid, 'Nothing is left to undo.', skipped);
  const id = ctx.ids.next(idPrefixes.undo);
  const cause = newestCause(changes);
  const [{ install_id: installId } = { install_id: null }] = rows;
  const eventData = {
    undo: { id },
    undid,
    plugin: installId === null ? null : { id: installId },
    changed: represented.length,
    skipped: skipped.length,
  };
  const done = { undid, changes: represented, skipped };
  const of = { installId: null, cause, nowMs: ctx.nowMs(), undid };
  return {
    changes: [
      ...undoChanges,
      ...(await takeApprovalsBack(ctx, rows)),
      { ...announce({ kind: 'automation', id: undid[0]! }, 'automation.undone', eventData), cause },
    ],
    ops: [...ops, ...storeChangesOps(ctx.scope, id, undoChanges, of), ...(await markOps(ctx, rows, id))],
    body: { ...done, id, message: saidOf('', represented.length, skipped) },
    simulated: { ...done, id: null, message: saidOf('would be ', represented.length, skipped) },
    status: 200,
  };
}

/** @throws ApiError conflict if no change can be reverted */
function requireReversible(skipped: readonly Skip[]): void {
  const finals = skipped.map(({ change, reason }) => (reason === 'irreversible' ? finalOf(change) : null));
  const [first] = finals;
  if (first && finals.every((final) => final !== null)) throw new ApiError('conflict', first);
}

/** Returns why a change can never be reverted; null if it depends on the case. */
function finalOf({ kind, before, after }: StoredChange): string | null {
  const contract = contractOf(kind);
  if (!contract || contract.undo === 'values') return null;
  if (contract.undo !== 'operations') return contract.undo.never;
  if (before === null) return null;
  const what = contract.name.replaceAll('_', ' ');
  return 'deletedAt' in after && after.deletedAt !== null
    ? `A deleted ${what} cannot be restored. Create a new one.`
    : `No update of the ${what} can revert this change. Revert it by hand.`;
}

function nothing(undid: readonly string[], message: string, skipped: readonly unknown[] = []): ChangeSet {
  return { changes: [], body: { id: null, undid, changes: [], skipped, message }, status: 200 };
}

/** @param mood `would be ` for a simulation, otherwise empty */
function saidOf(mood: string, changed: number, skipped: readonly { readonly reason: string }[]): string {
  const put = `${counted(changed, 'object')} ${mood}reverted`;
  if (skipped.length === 0) return `${put}.`;
  const left = skipped.length === 1 ? '1 skipped' : `${skipped.length} skipped`;
  const isByOthers = skipped.every(({ reason }) => reason === 'changed' || reason === 'worked_on');
  return `${put}; ${mood}${left}, ${isByOthers ? 'because of later changes by others' : 'for the reasons in `skipped`'}.`;
}

/** Returns the changes of all rows, newest first. @throws ApiError validation_failed */
async function changesOf(ctx: Context, rows: readonly StoredChangesRow[]): Promise<StoredChange[]> {
  const all: StoredChange[] = [];
  for (const { id } of rows) {
    all.push(...(await readChanges(ctx.store, ctx.scope, id)).reverse());
    if (all.length > changesMax)
      throw invalidField('since', 'too_big', {
        why: `One undo can revert at most ${changesMax} changes.`,
        fix: 'Use a later `since` to undo the newest first, then go further back.',
      });
  }
  return all;
}

const newestCause = (changes: readonly StoredChange[]): Cause => changes[0]!.cause;

/**
 * Returns the ops that mark the rows as undone. Rows that an undone undo had reverted are marked as not
 * undone again, recursively.
 */
async function markOps(ctx: Context, rows: readonly StoredChangesRow[], by: string): Promise<Op[]> {
  const ops = rows.map(({ id }) => markOp(ctx.scope, id, null, by));
  for (const row of rows) ops.push(...(await followOps(ctx, row, false)));
  return ops;
}

/** @param stands true if the undo is in effect now */
async function followOps(ctx: Context, undo: StoredChangesRow, stands: boolean): Promise<Op[]> {
  const ids = undo.undid_json === null ? [] : (JSON.parse(undo.undid_json) as string[]);
  if (ids.length === 0) return [];
  const [was, by] = stands ? [null, undo.id] : [undo.id, null];
  const ops: Op[] = [];
  for (const row of await storedChangesOf(ctx.store, ctx.scope, ids))
    if (row.undone_by === was)
      ops.push(markOp(ctx.scope, row.id, was, by), ...(await followOps(ctx, row, !stands)));
  return ops;
}

/** Limit of events of one object that are searched for the later change. */
const lookedAt = 50;

const newestOfIssue = tenantStatement<{ sequence: number }>(
  'undo.newest_in_history',
  `SELECT sequence FROM events INDEXED BY events_issue WHERE workspace_id = :ws AND issue_id = :subjectId AND entity_id = :id
     ORDER BY sequence DESC LIMIT ${lookedAt}`,
);
const newestOfObject = tenantStatement<{ sequence: number }>(
  'undo.newest_of_object',
  `SELECT sequence FROM events INDEXED BY events_object WHERE workspace_id = :ws AND issue_id IS NULL AND entity_type = :kind
     AND entity_id = :id ORDER BY sequence DESC LIMIT ${lookedAt}`,
);

/**
 * @param after objects after the undo, by `keyOf`
 * @param undone ids of the undone runs, whose own changes do not prevent an undo
 */
async function showSkipped(
  ctx: Context,
  models: UndoModels,
  skipped: readonly Skip[],
  { after, undone }: { readonly after: ReadonlyMap<string, Entity>; readonly undone: ReadonlySet<string> },
) {
  const histories = new Map<string, EventRow[]>();
  const responses = [];
  for (const { change, field, reason, work } of skipped) {
    const kind = models.byName(change.kind);
    const entity = after.get(keyOf(change)) ?? (await kind?.find(ctx, change.id));
    const name = nameOfField(change.kind, kind, field);
    const issue = kind ? issueOf(ctx, kind, entity ?? change.after) : null;
    const events = histories.get(change.id) ?? (await newestEvents(ctx, change, issue?.id));
    histories.set(change.id, events);
    const valueIn = (of: Entity | undefined): unknown =>
      name === null || !kind || !of ? null : short(kind.toResponse(of, ctx)[name]);
    const changed = reason === 'irreversible' ? undefined : changeOf(events, undone, name);
    responses.push({
      kind: change.kind,
      id: change.id,
      issue,
      field: name,
      reason,
      ranSet: valueIn(change.after),
      now: valueIn(entity),
      ...changedByOf(
        work === undefined
          ? changed
          : typeof work === 'string'
            ? await placing(ctx, change.kind, work)
            : work,
      ),
    });
  }
  return responses;
}

/** Returns the event that made an object a child of another: its last move there, or its creation. */
async function placing(ctx: Context, kind: string, id: string): Promise<EventRow | undefined> {
  const events = await newestEvents(ctx, { kind, id }, kind === 'issue' ? id : undefined);
  return changeOf(events, new Set(), 'parent') ?? events.at(-1);
}

function nameOfField(kind: string, model: UndoModel | undefined, field: string | null): string | null {
  return field === null ? null : (model?.inputs?.[field]?.name ?? apiNameOf(kind, field));
}

function changedByOf(event: EventRow | undefined) {
  if (!event) return { changedBy: null, eventId: null };
  const { kind, id, name } = event.actor;
  return { changedBy: { kind, id, name }, eventId: event.id };
}

/**
 * Returns the event of the newest change of a field or object that no undone run made. If the change has
 * several events, the first is returned, because it is the most general.
 */
function changeOf(
  events: readonly EventRow[],
  undone: ReadonlySet<string>,
  name: string | null,
): EventRow | undefined {
  const newest = events.find(
    ({ data, cause }) => !undone.has(cause.parentRunId ?? '') && (name === null || name in previousOf(data)),
  );
  return newest && events.findLast(({ data }) => data.version === newest.data.version);
}

const previousOf = (data: EventRow['data']): object => (data as { previous?: object | null }).previous ?? {};

/** Returns the newest events of an object, newest first. */
async function newestEvents(
  { store, scope }: Context,
  { kind, id }: ObjectName,
  subjectId: string | undefined,
): Promise<EventRow[]> {
  const rows = subjectId
    ? await store.read(scope, newestOfIssue, { subjectId, id })
    : await store.read(scope, newestOfObject, { kind, id });
  const events = await eventsAt(
    store,
    scope,
    rows.map(({ sequence }) => sequence),
  );
  return events.sort((a, b) => b.sequence - a.sequence);
}
