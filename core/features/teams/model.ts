// Storage and events of teams. Archived teams take no new issues, and their timers are suspended: cycles do
// not start, SLA clocks are not breached, snoozed issues do not return. All timers resume when the team is
// unarchived.
import type { Context } from '../../kernel/context.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import { timerOp } from '../../kernel/event-reactions/due-timers.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';
import type { TeamEntry } from '../../kernel/resource/names/teams.ts';
import { snoozeTimerName } from '../issues/contract.ts';
import { slaTimerName } from '../sla/contract.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { cyclesTimerName } from '../cycles/contract.ts';
import { team, type Rhythm } from './contract.ts';

export const teamModel = modelOf(team, {
  team: { of: ({ id }) => id, isIn: (list) => `id IN (${list})` },
  // A new rhythm makes the timer due at once, which creates its cycles.
  related(scope, before, { id, cycles, archivedAt, updatedAt }) {
    const isBack = before !== null && before.archivedAt !== null && archivedAt === null;
    return {
      last: [
        ...(isBack || (cycles && before?.cycles !== cycles)
          ? [timerOp(scope, cyclesTimerName, id, updatedAt)]
          : []),
        ...(isBack ? wakingOps(scope, id, updatedAt) : []),
      ],
    };
  },
  events(before, after) {
    if (!before) return ['team.created'];
    if ((before.archivedAt === null) === (after.archivedAt === null)) return ['team.updated'];
    return [after.archivedAt === null ? 'team.unarchived' : 'team.archived'];
  },
  shows: { cycles: ({ cycles }) => cycles as Rhythm | null },
});

/** @param path path of the team in the request @throws ApiError validation_failed */
export function requireTakesIssues({ key, archivedAt }: TeamEntry, path: string): void {
  if (archivedAt === null) return;
  throw invalidField(path, 'conflict', {
    why: `The team ${key} is archived.`,
    fix: `Use another team, or unarchive it with POST /api/v1/teams/${key}/unarchive.`,
  });
}

/**
 * Postpones a timer of an archived team by a day, since its object may move to another team; null for a team
 * that is not archived.
 */
export function putOff(
  { directory, scope, nowMs }: Context,
  teamId: string,
  timer: { readonly name: string; readonly id: string },
): { readonly changes: []; readonly ops: readonly Op[] } | null {
  if ((directory.teams.get(teamId)?.archivedAt ?? null) === null) return null;
  return { changes: [], ops: [timerOp(scope, timer.name, timer.id, nowMs() + dayMs)] };
}

const wake = (timerName: string, rows: string) =>
  tenantStatement(
    `timers.wake_${timerName}`,
    `UPDATE due_work SET due_at = :at, lease_until = 0, lease_owner = NULL, epoch = epoch + 1
     WHERE workspace_id = :ws AND id IN (${rows})`,
  );
const wakeSnoozed = wake(
  snoozeTimerName,
  `SELECT '${snoozeTimerName}/' || id FROM issues INDEXED BY issues_team
   WHERE workspace_id = :ws AND team_id = :teamId AND snoozed_until <= :at AND deleted_at IS NULL`,
);
/** Wakes all open clocks: a clock that is not due yet sets its timer again. */
const wakeClocks = wake(
  slaTimerName,
  `SELECT '${slaTimerName}/' || c.id FROM issues AS i INDEXED BY issues_number CROSS JOIN sla_clocks AS c INDEXED BY sla_clocks_issue ON c.workspace_id = :ws AND c.issue_id = i.id
   WHERE i.workspace_id = :ws AND i.team_id = :teamId AND c.ended_at IS NULL`,
);

/** Returns statements for the batch that unarchives a team. */
function wakingOps(scope: Scope, teamId: string, at: number): Op[] {
  return [wakeSnoozed, wakeClocks].map((statement) => tenantOp(scope, statement, { teamId, at }));
}
