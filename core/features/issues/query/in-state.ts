// Fields that follow the workflow state of an issue. Every writer of `stateId` must set them with these
// functions.
import type { Context } from '../../../kernel/context.ts';
import type { Issue } from '../model.ts';

export const stateTimes = ['startedAt', 'completedAt', 'canceledAt'] as const;
export type StateTimes = Pick<Issue, (typeof stateTimes)[number]>;
type Timed = Pick<Issue, 'stateId'> & StateTimes;

const unknown: StateTimes = { startedAt: null, completedAt: null, canceledAt: null };
const notBegunTypes: ReadonlySet<string> = new Set(['triage', 'backlog', 'unstarted']);

/**
 * Returns the state times of an issue that enters a state. A move between states of the same type does not
 * change them, even if unknown.
 * @param issue null for a creation
 */
function timesIn(
  { directory: { states }, nowMs }: Context,
  issue: Timed | null,
  stateId: string,
): StateTimes {
  const type = states.get(stateId)?.type ?? '';
  const isEntry = type !== (issue && states.get(issue.stateId)?.type);
  const { startedAt, completedAt, canceledAt } = issue ?? unknown;
  const entry = (isIn: boolean, before: number | null): number | null => {
    if (!isIn) return null;
    return isEntry ? nowMs() : before;
  };
  return {
    startedAt: notBegunTypes.has(type) ? null : (startedAt ?? entry(type === 'started', null)),
    completedAt: entry(type === 'completed', completedAt),
    canceledAt: entry(type === 'canceled' || type === 'duplicate', canceledAt),
  };
}

/** An issue that leaves its state is no longer snoozed. */
export function inState(
  ctx: Context,
  issue: Timed | null,
  stateId: string,
): Pick<Issue, 'stateId' | 'snoozedUntil'> & StateTimes {
  return { stateId, snoozedUntil: null, ...timesIn(ctx, issue, stateId) };
}
