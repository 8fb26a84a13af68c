// Resolves the filter values `current`, `next` and `previous` to the matching cycle of each team.
import type { Directory } from '../../../kernel/context.ts';
import type { FilterWay } from '../../../platform/lib/filter/filter.ts';
import { namesIn } from '../../../kernel/resource/filter/filter.ts';
import { cycle } from '../../cycles/contract.ts';

export const relativeWords = { current: 'current', next: 'next', previous: 'previous' } as const;

/** Returns the ids of the cycles that a filter matches. */
export function cyclesMeant(
  directory: Directory,
  way: FilterWay,
  names: readonly string[],
): readonly string[] {
  if (way.by !== 'turn') return namesIn(directory, cycle, 'name').ids(way, names);
  return [...new Set(names.flatMap((name) => relativeCycles(directory, name)))];
}

function relativeCycles({ cycles }: Directory, word: string): string[] {
  if (word === 'current')
    return [...cycles.values()].filter(({ status }) => status === 'active').map(({ id }) => id);
  const wanted = word === 'next' ? 'upcoming' : 'completed';
  const nearest = new Map<string, { readonly id: string; readonly startsAt: number }>();
  for (const one of cycles.values()) {
    if (one.status !== wanted) continue;
    const known = nearest.get(one.teamId);
    const isNearer =
      !known || (wanted === 'upcoming' ? one.startsAt < known.startsAt : one.startsAt > known.startsAt);
    if (isNearer) nearest.set(one.teamId, one);
  }
  return [...nearest.values()].map(({ id }) => id);
}
