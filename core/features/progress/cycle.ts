// Scope and progress of a cycle, day by day. A completed cycle is counted as it was before its unfinished
// issues rolled over. See docs/decisions/0046.
import { Type, type Static } from 'typebox';
import { getEntity } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { Closed, idOf, namedSchema } from '../../platform/lib/schema.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { cycle } from '../cycles/contract.ts';
import { cycleModel } from '../cycles/index.ts';
import { countedByDay, dayByDay, daysOf } from './day-by-day.ts';

export const CycleProgress = namedSchema(
  'CycleProgress',
  Closed({
    id: idOf(cycle.id),
    timeZone: Type.String({ description: 'Time zone of the team, in which days begin and end.' }),
    days: dayByDay('Days from the start of the cycle to its completion, or to today.'),
  }),
);

const idsIn = tenantStatement<{ id: string }>(
  'cycle_issues.of_cycle',
  'SELECT id FROM cycle_issues WHERE workspace_id = :ws AND cycle_id = :cycleId',
);
const completion = tenantStatement<{ sequence: number }>(
  'events.cycle_completed',
  `SELECT sequence FROM events INDEXED BY events_issue
   WHERE workspace_id = :ws AND issue_id = :cycleId AND type = 'cycle.completed' ORDER BY sequence DESC LIMIT 1`,
);

export async function progressOfCycle(ctx: Context, id: string): Promise<Static<typeof CycleProgress>> {
  const current = await getEntity(ctx, cycleModel, id);
  const { store, scope, directory } = ctx;
  const timeZone = directory.teams.get(current.teamId)?.timeZone ?? 'UTC';
  if (current.startedAt === null) return { id: current.id, timeZone, days: [] };
  const ended =
    current.completedAt === null
      ? undefined
      : await store.readOne(scope, completion, { cycleId: current.id });
  const days = await countedByDay(ctx, {
    ids: (await store.read(scope, idsIn, { cycleId: current.id })).map(({ id }) => id),
    days: daysOf(timeZone, current.startedAt, current.completedAt ?? ctx.nowMs()),
    ...(ended && { before: ended.sequence }),
    isIn: ({ cycle }) => cycle?.id === current.id,
  });
  return { id: current.id, timeZone, days };
}
