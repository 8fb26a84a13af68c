// Effect of the completion of a cycle on its unfinished issues, as the server will compute it.
import type { Cycle } from '@tatami/sdk/client';
import type { FilterTree } from '../../parts/filter/filter.ts';

type Planned = Pick<Cycle, 'id' | 'team' | 'status' | 'startsAt'>;

/** Returns the cycle that takes over the unfinished issues; null if the team has no next one. */
export function nextCycle<T extends Planned>(cycles: readonly T[], cycle: Planned): T | null {
  const upcoming = cycles.filter(({ team, status }) => team === cycle.team && status === 'upcoming');
  const order = ({ startsAt, id }: Planned): string => `${startsAt} ${id}`;
  return upcoming.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))[0] ?? null;
}

export const unfinishedOf = (cycleId: string): FilterTree => ({
  and: [{ cycle: cycleId }, { state: { nin: ['completed', 'canceled', 'duplicate'] } }],
});
