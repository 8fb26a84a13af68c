// Adds issues to cycles: only to an open cycle of the same team, even with concurrent changes of the cycle.
// Every issue that was ever in a cycle is recorded, so that progress can be read from the log.
import type { Context, Directory } from '../../../kernel/context.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { idOfName, type Naming } from '../../../kernel/resource/names/names.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import { cycle } from '../../cycles/contract.ts';

/** Fails the batch if the cycle was completed or deleted in the meantime. */
const holdOpen = tenantStatement(
  'cycles.hold_open',
  `UPDATE cycles SET version = version WHERE workspace_id = :ws AND id = :cycleId AND team_id = :teamId
     AND status <> 'completed' AND deleted_at IS NULL`,
);
const remember = tenantStatement(
  'cycle_issues.add',
  `INSERT OR IGNORE INTO cycle_issues (workspace_id, cycle_id, id) VALUES (:ws, :cycleId, :issueId)`,
);

/** Returns statements for the batch that puts an issue into a cycle. */
export function enteringOps(
  scope: Scope,
  issue: { readonly id: string; readonly teamId: string; readonly cycleId: string | null },
): Op[] {
  const { id: issueId, teamId, cycleId } = issue;
  return [
    tenantOp(scope, holdOpen, { cycleId, teamId }, { expectRows: 1 }),
    tenantOp(scope, remember, { cycleId, issueId }),
  ];
}

/**
 * Resolves the cycle in a request for an issue of a team.
 * @param issue current issue; null for a creation
 * @param at prefix of the path in errors
 * @throws ApiError validation_failed
 */
export function resolveCycle(
  ctx: Naming,
  teamId: string,
  issue: { readonly cycleId: string | null } | null,
  requested: string | null,
  at: string,
): string | null {
  if (requested === null || requested === issue?.cycleId) return requested;
  const { directory } = ctx;
  const path = `${at}cycleId`;
  const cycleId = idOfName(ctx, cycle, requested, path, {
    has: (entry) => entry.teamId === teamId,
    words: ' in this team',
    rank: ({ status }) => (status === 'completed' ? 1 : 0),
    isOpen: true,
  });
  if (cycleId === issue?.cycleId) return cycleId;
  const match = directory.cycles.get(cycleId);
  if (match?.teamId !== teamId)
    throw invalidField(path, 'not_found', {
      why: `${cycleId} is not a cycle of the issue's team.`,
      fix: 'Use a cycle that GET /api/v1/cycles?team=KEY lists.',
    });
  if (match.status === 'completed')
    throw invalidField(path, 'conflict', {
      why: `${match.name} is completed.`,
      fix: 'Use an active or upcoming cycle of the team.',
    });
  return cycleId;
}

/**
 * Returns the cycle of a restored issue: an unfinished issue leaves a cycle that was completed in the
 * meantime.
 */
export function cycleAfterRestore(
  { cycles }: Directory,
  { cycleId, isFinished }: { readonly cycleId: string | null; readonly isFinished: boolean },
): string | null {
  const match = cycleId === null ? undefined : cycles.get(cycleId);
  return match && (isFinished || match.status !== 'completed') ? match.id : null;
}

/**
 * Returns statements for the batch that restores an issue, which fail if the cycle is completed at the same
 * time.
 */
export function requireOpenOps({ scope, directory }: Context, teamId: string, cycleId: string | null): Op[] {
  return cycleId === null || directory.cycles.get(cycleId)?.status === 'completed'
    ? []
    : [tenantOp(scope, holdOpen, { cycleId, teamId }, { expectRows: 1 })];
}
