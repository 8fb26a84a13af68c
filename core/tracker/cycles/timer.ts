// Timer of a team's cycles. Each time it fires, it makes one step: complete, roll over, start, or create
// ahead. It fires again until nothing is due, so cycles that passed while the server was off are started and
// completed in order, each exactly once.
import type { Change } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { neverMs } from '../../events/work.ts';
import type { DueTimer } from '../../reactions/due-timer.ts';
import { tenantStatement, type SqlRow } from '../../store/statement.ts';
import type { Op } from '../../store/store.ts';
import { putOff } from '../teams/archived.ts';
import { team } from '../teams/contract.ts';
import { cycle } from './contract.ts';
import { completing, createAhead, starting } from './course.ts';
import { cyclesTimerName, cyclesDueOp } from './due.ts';
import { cycleModel, type Cycle } from './kind.ts';
import { rolledOver } from './rollover.ts';

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
