// Rolls the unfinished issues of a completed cycle over to the next cycle of the team, or to none, with one
// version and one event per issue. Works in steps, so that no commit blocks others for long. No plan is
// stored: each step reads which issues are left, and the last one marks the cycle as settled. A restart after
// a crash continues, and issues that people move in the meantime stay where they were moved.
import type { Change } from '../../changes/change.ts';
import { notDeleted, pageOfModel } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp, type Op } from '../../store/store.ts';
import { issueModel } from '../issues/kind.ts';
import { isFinishedState } from '../directory.ts';
import type { Cycle } from './kind.ts';

/** Maximum number of issues changed in one batch; fewer if they are long. */
const atOnce = 100;

const settle = tenantStatement(
  'cycles.settle',
  `UPDATE cycles SET settled_at = :at WHERE workspace_id = :ws AND id = :id AND status = 'completed' AND settled_at IS NULL`,
);
/** Fails the batch if the issue was already recorded. */
const record = tenantStatement(
  'cycle_issues.roll',
  `UPDATE cycle_issues SET rolled_at = :at, rolled_to = :to
   WHERE workspace_id = :ws AND cycle_id = :cycleId AND id = :issueId AND rolled_at IS NULL`,
);

/** @param next next cycle of the team; null if there is none */
export async function rolledOver(
  ctx: Context,
  cycle: Cycle,
  next: Cycle | null,
): Promise<{ changes: Change[]; ops: Op[] }> {
  const { scope } = ctx;
  const at = ctx.nowMs();
  const settled = tenantOp(scope, settle, { id: cycle.id, at }, { expectRows: 1 });
  const rollsOver = ctx.directory.teams.get(cycle.teamId)?.cycles?.rollsOver ?? true;
  if (!rollsOver) return { changes: [], ops: [settled] };
  const done = [...ctx.directory.states.values()]
    .filter(({ teamId, type }) => teamId === cycle.teamId && isFinishedState(type))
    .map(({ id }) => id);
  const { data, pageInfo } = await pageOfModel(
    ctx,
    issueModel,
    { limit: atOnce },
    {
      where: [
        notDeleted,
        { sql: 'cycle_id = :cycleId', params: { cycleId: cycle.id } },
        {
          sql: 'state_id NOT IN (SELECT value FROM json_each(:done))',
          params: { done: JSON.stringify(done) },
        },
      ],
    },
  );
  const changes = data.flatMap((issue) => issueModel.update(issue, { cycleId: next?.id ?? null }, at) ?? []);
  const to = next?.id ?? null;
  const records = changes.map(({ id: issueId }) =>
    tenantOp(scope, record, { cycleId: cycle.id, issueId, at, to }, { expectRows: 1 }),
  );
  return { changes, ops: pageInfo.hasNextPage ? records : [...records, settled] };
}
