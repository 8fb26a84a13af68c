// The course of a cycle: made ahead, started, completed, each told once. Pure but for the numbers that are read.
import type { Change } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { tenantStatement } from '../../store/statement.ts';
import { lastTimeMs } from '../../lib/time.ts';
import type { TeamEntry } from '../directory.ts';
import type { Rhythm } from '../teams/contract.ts';
import { cycle } from './contract.ts';
import { cycleKind, type Cycle } from './kind.ts';
import { spansFrom } from './spans.ts';

type Reading = Pick<Context, 'store' | 'scope'>;

const lastOf = tenantStatement<{ number: number | null }>(
  'cycles.last_number',
  'SELECT max(number) AS number FROM cycles WHERE workspace_id = :ws AND team_id = :teamId',
);
const endOf = tenantStatement<{ ends_at: number }>(
  'cycles.last_end',
  `SELECT ends_at FROM cycles WHERE workspace_id = :ws AND team_id = :teamId AND deleted_at IS NULL
   ORDER BY starts_at DESC, id DESC LIMIT 1`,
);

/** Numbers are not given again: deleted cycles keep theirs. */
export async function nextNumber({ store, scope }: Reading, teamId: string): Promise<number> {
  return ((await store.readOne(scope, lastOf, { teamId }))?.number ?? 0) + 1;
}

export const nameOfNumber = (number: number): string => `Cycle ${number}`;

/** Those of the team that are to be made by its rhythm, behind all it has. @param open its cycles that are not completed */
export async function madeAhead(ctx: Context, team: TeamEntry, open: readonly Cycle[]): Promise<Change[]> {
  const missing = (team.cycles?.ahead ?? 0) - open.filter(({ status }) => status === 'upcoming').length;
  if (!team.cycles || missing <= 0) return [];
  const now = ctx.nowMs();
  const end = (await ctx.store.readOne(ctx.scope, endOf, { teamId: team.id }))?.ends_at;
  // Where nothing was under way, what has passed meanwhile is not made up for.
  const isChain = end !== undefined && (end > now || open.length > 0);
  const from = isChain ? { ms: end, isEnd: true } : { ms: now, isEnd: false };
  const first = await nextNumber(ctx, team.id);
  const spans = spansFrom(team.timeZone, team.cycles as Rhythm, from, missing);
  return spans
    .filter(({ endsAt }) => endsAt <= lastTimeMs)
    .map((span, index) =>
      cycleKind.create({
        id: ctx.ids.next(cycle.id),
        teamId: team.id,
        number: first + index,
        name: nameOfNumber(first + index),
        description: '',
        ...span,
        status: 'upcoming',
        startedAt: null,
        completedAt: null,
        createdAt: now,
        updatedAt: now,
        deletedAt: null,
      }),
    );
}

/** What of a cycle changes when it starts: one that starts early moves its start. */
export function starting({ startsAt }: Cycle, now: number): Partial<Cycle> {
  const at = Math.min(startsAt, now);
  return { status: 'active', startsAt: at, startedAt: at };
}

/** What of a cycle changes when it is completed: one that is completed early moves its end. */
export function completing({ startsAt, endsAt }: Cycle, now: number): Partial<Cycle> {
  const at = Math.max(startsAt, Math.min(endsAt, now));
  return { status: 'completed', endsAt: at, completedAt: at };
}
