// Reports the events that a plugin missed while disabled, and starts their backfill.
import type { ChangeSet } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import type { WorkQueue } from '../../events/work.ts';
import { ApiError } from '../../lib/errors.ts';
import { getInstall } from '../installs/installs.ts';
import { countAbandoned } from '../runs/abandoned.ts';
import { backfillsOfInstall, requestOps, type BackfillRow, type BackfillStatus } from './rows.ts';

/** Precedence of statuses if an install has several gaps. */
const precedence: readonly BackfillStatus[] = ['running', 'counting', 'offered', 'off', 'done'];

/** @throws ApiError not_found */
export async function showBackfill(ctx: Context, pluginId: string) {
  const { id } = await getInstall(ctx, pluginId);
  const backfills = await ctx.store.read(ctx.scope, backfillsOfInstall, { installId: id });
  return summaryOf(id, backfills, await countAbandoned(ctx.store, ctx.scope, id));
}

/** @throws ApiError not_found, conflict */
export async function startBackfill(ctx: Context, pluginId: string, queue: WorkQueue): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  if (install.state !== 'active')
    throw new ApiError('conflict', `The plugin is ${install.state}. Enable it, then backfill.`);
  const backfills = await ctx.store.read(ctx.scope, backfillsOfInstall, { installId: install.id });
  const requested = backfills
    .filter(({ status }) => status !== 'done')
    .map((backfill) =>
      backfill.status === 'counting' || backfill.status === 'offered'
        ? { ...backfill, status: 'running' as const }
        : backfill,
    );
  return {
    changes: [],
    ops: requestOps(ctx.scope, install.id, ctx.nowMs()),
    afterCommit: () => queue.wake(),
    body: summaryOf(install.id, requested, await countAbandoned(ctx.store, ctx.scope, install.id)),
    status: 202,
    location: `${ctx.baseUrl}/api/v1/plugins/${install.id}/catch-up`,
  };
}

function summaryOf(pluginId: string, backfills: readonly BackfillRow[], abandoned: number) {
  const status =
    precedence.find((one) => backfills.some((backfill) => backfill.status === one)) ?? ('nothing' as const);
  const ofStatus = backfills.filter((backfill) => backfill.status === status);
  const ofThis = status === 'done' ? doneLast(ofStatus) : ofStatus;
  const uncounted = ofThis.some(({ missed }) => missed === null);
  return {
    pluginId,
    status,
    missed: uncounted
      ? null
      : ofThis.reduce((sum, { missed }) => sum + (missed ?? 0), status === 'offered' ? abandoned : 0),
    runs: ofThis.reduce((sum, { runs }) => sum + runs, 0),
  };
}

/**
 * Returns the gaps of the last backfill: the newest gap, and each older one that was not done when the next
 * one opened.
 * @param backfills oldest first
 */
function doneLast(backfills: readonly BackfillRow[]): readonly BackfillRow[] {
  let first = backfills.length - 1;
  while (first > 0 && backfills[first]!.created_at <= (backfills[first - 1]!.finished_at ?? 0)) first--;
  return backfills.slice(Math.max(first, 0));
}
