// Reports what a plugin missed while it was disabled, and requests a backfill.
import type { ChangeSet } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import type { WorkQueue } from '../../events/work.ts';
import { ApiError } from '../../lib/errors.ts';
import { getInstall } from '../installs/installs.ts';
import { countAbandoned } from '../runs/given-up.ts';
import { gapsOfInstall, requestOps, type GapRow, type GapStatus } from './rows.ts';

/** Precedence of statuses if an install has several gaps. */
const precedence: readonly GapStatus[] = ['running', 'counting', 'offered', 'off', 'done'];

/** @throws ApiError not_found */
export async function showCatchUp(ctx: Context, pluginId: string) {
  const { id } = await getInstall(ctx, pluginId);
  const gaps = await ctx.store.read(ctx.scope, gapsOfInstall, { installId: id });
  return summaryOf(id, gaps, await countAbandoned(ctx.store, ctx.scope, id));
}

/** @throws ApiError not_found, conflict */
export async function catchUp(ctx: Context, pluginId: string, queue: WorkQueue): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  if (install.state !== 'active')
    throw new ApiError('conflict', `The plugin is ${install.state}. Enable it, then backfill.`);
  const gaps = await ctx.store.read(ctx.scope, gapsOfInstall, { installId: install.id });
  const requested = gaps
    .filter(({ status }) => status !== 'done')
    .map((gap) =>
      gap.status === 'counting' || gap.status === 'offered' ? { ...gap, status: 'running' as const } : gap,
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

function summaryOf(pluginId: string, gaps: readonly GapRow[], abandoned: number) {
  const status = precedence.find((one) => gaps.some((gap) => gap.status === one)) ?? ('nothing' as const);
  const ofStatus = gaps.filter((gap) => gap.status === status);
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

/** Returns the gaps that the last request backfilled: a gap that opened after they were done is left out. @param gaps oldest first */
function doneLast(gaps: readonly GapRow[]): readonly GapRow[] {
  let first = gaps.length - 1;
  while (first > 0 && gaps[first]!.created_at <= (gaps[first - 1]!.finished_at ?? 0)) first--;
  return gaps.slice(Math.max(first, 0));
}
