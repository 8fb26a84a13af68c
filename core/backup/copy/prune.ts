// Removes from a copy what no moment needs that it has to reach: bases and segments before the last base that is old enough, and chains
// that ended before. Of other installations, and of chains that may still be written, nothing.
import type { Destination } from './destination.ts';
import { parseName } from './names.ts';
import { reachesOf, readTimeline, runOf, type Chain } from './timeline.ts';

export interface PruneOptions {
  readonly destination: Destination;
  readonly installation: string;
  /** The chain that is written now. */
  readonly chain: string;
  /** The base that is being taken. */
  readonly underWay: number | null;
  /** Moments from here on stay reached. */
  readonly fromMs: number;
}

/** @returns how many objects were removed */
export async function prune(options: PruneOptions): Promise<{ removed: number; isBroken: boolean }> {
  const { destination, installation, chain: current } = options;
  const chains = (await readTimeline(destination)).filter((chain) => chain.installation === installation);
  const names = chains.flatMap((chain, index) => {
    if (chain.chain === current) return unneededIn(chain, options);
    return isPast(chain, chains.slice(index + 1), options.fromMs) ? chain.names : [];
  });
  await destination.delete(names);
  const isBroken = chains.some(({ chain, damaged }) => chain === current && damaged.length > 0);
  return { removed: names.length, isBroken };
}

/** The chain ended before, and a later one reaches back to there. */
function isPast(chain: Chain, later: readonly Chain[], fromMs: number): boolean {
  const ended = [...chain.segments.values()].every(({ timeMs }) => timeMs < fromMs);
  return ended && later.flatMap(reachesOf).some(({ from }) => from.timeMs <= fromMs);
}

function unneededIn(chain: Chain, { fromMs, underWay }: PruneOptions): readonly string[] {
  const oldest = chain.bases.findLast((base) =>
    runOf(chain, base).some(({ index, timeMs }) => index === base.end && timeMs <= fromMs),
  );
  const finished = new Set(chain.bases.map(({ base }) => base));
  return chain.names.filter((name) => {
    const parsed = parseName(name);
    if (parsed?.is === 'segment') return oldest !== undefined && parsed.index < oldest.first;
    if (parsed?.is !== 'base') return false;
    const isUnfinished = !finished.has(parsed.base) && parsed.base !== underWay;
    return isUnfinished || (oldest !== undefined && parsed.base < oldest.base);
  });
}
