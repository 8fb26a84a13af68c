// Removes stored data about purged issues, from all tables that may quote them.
import { purgedTimerName } from '../../features/issues/index.ts';
import { forgetInProposals } from '../../features/proposals/index.ts';
import { tables } from '../../features/tables.ts';
import { timerOp, type DueTimer } from '../../kernel/event-reactions/due-timers.ts';
import { createForgetting, type ForgetInMemory } from '../../kernel/table/forget.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';

const forgetIssues = createForgetting(tables);

/** Time until the second removal, longer than any attempt of a run. */
const againMs = 15 * 60_000;

/** Maximum number of issues handled at once. */
const purgedAtOnce = 1_000;

const due = tenantStatement<{ id: string; created_at: number; recheck_at: number }>(
  'purged_issues.due',
  `SELECT id, created_at, recheck_at FROM purged_issues WHERE workspace_id = :ws AND recheck_at <= :now
   ORDER BY recheck_at, id LIMIT ${purgedAtOnce}`,
);
const next = tenantStatement<{ at: number | null }>(
  'purged_issues.next',
  'SELECT min(recheck_at) AS at FROM purged_issues WHERE workspace_id = :ws AND recheck_at > :now',
);
const putOff = tenantStatement(
  'purged_issues.put_off',
  'UPDATE purged_issues SET recheck_at = :at WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))',
);
const done = tenantStatement(
  'purged_issues.done',
  'DELETE FROM purged_issues WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))',
);

/**
 * Removes stored data about a purged issue: soon after the purge, and again after work that was in progress at the purge
 * has ended.
 */
export function createPurgedTimer(forgetInMemory: ForgetInMemory): DueTimer {
  return {
    name: purgedTimerName,
    // Only a purge has the same object before and after the change.
    isSetBy: ({ kind, before, after }) => kind === 'issue' && before === after,
    async fire(ctx, workspaceId) {
      const now = ctx.nowMs();
      const rows = await ctx.store.read(ctx.scope, due, { now });
      const later = (await ctx.store.readOne(ctx.scope, next, { now }))?.at ?? null;
      const ids = new Set(rows.map(({ id }) => id));
      const again = rows.filter(({ recheck_at: at }) => at === 0);
      const over = rows.filter(({ recheck_at: at }) => at > 0);
      if (ids.size > 0)
        await forgetIssues(
          ctx,
          { ids, sinceMs: Math.min(...rows.map((row) => row.created_at)) },
          forgetInMemory,
        );
      const { changes, ops } = await forgetInProposals(ctx, ids);
      const at = now + againMs;
      const moments = [
        ...(rows.length === purgedAtOnce ? [now] : []),
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
