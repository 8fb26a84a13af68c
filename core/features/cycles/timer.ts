// Timer of a team's cycles. Each time it fires, it makes one step: complete, roll over, start, or create
// ahead. It fires again until nothing is due, so cycles that passed while the server was off are started and
// completed in order, each exactly once.
import type { Change } from '../../kernel/changes/change.ts';
import type { Context } from '../../kernel/context.ts';
import { neverMs } from '../../kernel/events/work/queue.ts';
import type { DueTimer } from '../../kernel/event-reactions/due-timers.ts';
import { tenantStatement, type SqlRow } from '../../platform/store/statement.ts';
import type { Op } from '../../platform/store/store.ts';
import { putOff } from '../teams/index.ts';
import { team } from '../teams/contract.ts';
import { cycle, cyclesTimerName } from './contract.ts';
import { completing, createAhead, starting } from './course.ts';
import { cyclesDueOp, cycleModel, type Cycle } from './model.ts';
import { notDeleted, pageOfModel } from '../../kernel/changes/list.ts';
import { issueModel } from '../issues/index.ts';
import { isFinishedState } from '../workflows/index.ts';
import { cycleIssueTable, cycleTable } from './tables.ts';

const stillOpen = tenantStatement<SqlRow>(
  'cycles.open_of_team',
  `SELECT ${cycleModel.select} FROM cycles INDEXED BY cycles_open
   WHERE workspace_id = :ws AND team_id = :teamId AND settled_at IS NULL AND deleted_at IS NULL
   ORDER BY starts_at, id`,
);

export const cycleTimer: DueTimer = {
  name: cyclesTimerName,
  isSetBy: ({ kind }) => kind === cycle.name || kind === team.name,
  async fire(ctx, teamId) {
    const waits = putOff(ctx, teamId, { name: cyclesTimerName, id: teamId });
    if (waits) return waits;
    const { changes, ops = [] } = await step(ctx, teamId);
    // Must be the last statement, so that it computes the next due time from the result of this step. With
    // `neverMs` a team without open cycles is not due again, because this step already created the cycles
    // ahead.
    return { changes, ops: [...ops, cyclesDueOp(ctx.scope, teamId, neverMs)] };
  },
};

interface Step {
  readonly changes: readonly Change[];
  readonly ops?: readonly Op[];
}

/** Maximum number of issues changed in one batch; fewer if they are long. */
const atOnce = 100;

const settle = cycleTable.update(
  'settle',
  ['settled_at'],
  ['id'],
  "status = 'completed' AND settled_at IS NULL",
);
/** Fails the batch if the issue was already recorded. */
const record = cycleIssueTable.update(
  'roll',
  ['rolled_at', 'rolled_to'],
  ['cycle_id', 'id'],
  'rolled_at IS NULL',
);

/**
 * Rolls unfinished issues of a completed cycle over, with one version and one event per issue. Works in steps, so that no
 * commit blocks others for long. No plan is stored: each step reads which issues are left, and the last one marks the
 * cycle as settled. A restart after a crash continues, and issues that people move in the meantime stay where they were
 * moved.
 * @param next next cycle of the team; null if there is none
 */
async function rolledOver(
  ctx: Context,
  cycle: Cycle,
  next: Cycle | null,
): Promise<{ changes: Change[]; ops: Op[] }> {
  const { scope } = ctx;
  const at = ctx.nowMs();
  const settled = settle(scope, { id: cycle.id, settled_at: at }, { expectRows: 1 });
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
  const records = changes.map(({ id }) =>
    record(scope, { cycle_id: cycle.id, id, rolled_at: at, rolled_to: to }, { expectRows: 1 }),
  );
  return { changes, ops: pageInfo.hasNextPage ? records : [...records, settled] };
}

async function step(ctx: Context, teamId: string): Promise<Step> {
  const now = ctx.nowMs();
  const all = (await ctx.store.read(ctx.scope, stillOpen, { teamId })).map((row) => cycleModel.fromRow(row));
  const open = all.filter(({ status }) => status !== 'completed');
  const unsettled = all.find(({ status }) => status === 'completed');
  // Rollover precedes the start of the next cycle, so that the cycle starts with all of its issues.
  if (unsettled) return rolledOver(ctx, unsettled, open[0] ?? null);
  const active = open.find(({ status }) => status === 'active');
  const [first] = open;
  if (active && active.endsAt <= now) return changed(active, completing(active, now), now);
  const starts = !active && first && first.startsAt <= now ? first : undefined;
  const started = starts ? changed(starts, starting(starts, now), now).changes : [];
  const entry = ctx.directory.teams.get(teamId);
  if (!entry) return { changes: started };
  const left = open.map((one) => (one === starts ? { ...one, ...starting(one, now) } : one));
  return { changes: [...started, ...(await createAhead(ctx, entry, left))] };
}

function changed(before: Cycle, patch: Partial<Cycle>, now: number): Step {
  return { changes: [cycleModel.update(before, patch, now) ?? []].flat() };
}
