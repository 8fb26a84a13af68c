// Undoes runs, approved proposals and undos in one commit, which has an event and can itself be undone. docs/spec/plugins.md › Undo.
import { announce, type ChangeSet } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import type { Cause } from '../../../kernel/events/event.ts';
import { ApiError, invalidField, notFound } from '../../../platform/lib/errors/errors.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import type { Op } from '../../../platform/store/store.ts';
import { proposalModel } from '../../proposals/index.ts';
import { takeApprovalsBack } from '../installs/probation.ts';
import { findRun } from '../runs/rows.ts';
import { undoing } from './changes.ts';
import { planRevert, type Skip } from './revert-plan.ts';
import {
  storeChangesOps,
  storedChangesOf,
  keyOf,
  markOp,
  readChanges,
  type StoredChange,
  type StoredChangesRow,
} from './stored-changes.ts';
import { contractOf, type UndoModels } from './models.ts';
import { showSkipped } from './skipped.ts';

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
  const ends = 'deletedAt' in after && after.deletedAt !== null;
  return ends && before !== null
    ? `A deleted ${contract.name.replaceAll('_', ' ')} cannot be restored. Create a new one.`
    : null;
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
