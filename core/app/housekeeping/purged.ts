// Removes stored data about a purged issue: soon after the purge, and again after work that was in progress
// at the purge has ended.
import type { ForgetIssues } from '../../features/plugins/index.ts';
import { forgetInProposals } from '../../features/proposals/index.ts';
import { timerOp, type DueTimer } from '../../kernel/event-reactions/due-timers.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { purgedTimerName } from '../../features/issues/index.ts';

/** Time until the second removal, longer than any attempt of a run. */
const againMs = 15 * 60_000;

/** Maximum number of issues handled at once. */
const issuesAtOnce = 1_000;

const due = tenantStatement<{ id: string; created_at: number; again_at: number }>(
  'purged_issues.due',
  `SELECT id, created_at, again_at FROM purged_issues WHERE workspace_id = :ws AND again_at <= :now
   ORDER BY again_at, id LIMIT ${issuesAtOnce}`,
);
const next = tenantStatement<{ at: number | null }>(
  'purged_issues.next',
  'SELECT min(again_at) AS at FROM purged_issues WHERE workspace_id = :ws AND again_at > :now',
);
const putOff = tenantStatement(
  'purged_issues.put_off',
  'UPDATE purged_issues SET again_at = :at WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))',
);
const done = tenantStatement(
  'purged_issues.done',
  'DELETE FROM purged_issues WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))',
);

export function createPurgedTimer(forgetIssues: ForgetIssues): DueTimer {
  return {
    name: purgedTimerName,
    // Only a purge has the same object before and after the change.
    isSetBy: ({ kind, before, after }) => kind === 'issue' && before === after,
    async fire(ctx, workspaceId) {
      const now = ctx.nowMs();
      const rows = await ctx.store.read(ctx.scope, due, { now });
      const later = (await ctx.store.readOne(ctx.scope, next, { now }))?.at ?? null;
      const ids = new Set(rows.map(({ id }) => id));
      const again = rows.filter(({ again_at: at }) => at === 0);
      const over = rows.filter(({ again_at: at }) => at > 0);
      if (ids.size > 0)
        await forgetIssues(ctx.scope, { ids, sinceMs: Math.min(...rows.map((row) => row.created_at)) });
      const { changes, ops } = await forgetInProposals(ctx, ids);
      const at = now + againMs;
      const moments = [
        ...(rows.length === issuesAtOnce ? [now] : []),
        ...(later === null ? [] : [later]),
        ...(again.length > 0 ? [at] : []),
      ];
      return {
        changes,
        ops: [
          ...ops,
          tenantOp(ctx.scope, putOff, { at, ids: idsOf(again) }),
          tenantOp(ctx.scope, done, { ids: idsOf(over) }),
          ...(moments.length > 0
            ? [timerOp(ctx.scope, purgedTimerName, workspaceId, Math.min(...moments))]
            : []),
        ],
      };
    },
  };
}

const idsOf = (rows: readonly { readonly id: string }[]): string => JSON.stringify(rows.map(({ id }) => id));
