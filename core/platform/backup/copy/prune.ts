// Removes objects of a copy that no restorable time needs: bases and segments before the last sufficiently old base, and chains that ended
// before. Never removes objects of other installations, or of chains that may still be written.
import type { Destination } from './destination/destination.ts';
import { parseName } from './destination/names.ts';
import { reachesOf, readTimeline, runOf, type Chain } from './timeline.ts';

export interface PruneOptions {
  readonly destination: Destination;
  readonly installation: string;
  /** Chain that is being written. */
  readonly chain: string;
  /** Number of the base in progress; null if there is none. */
  readonly underWay: number | null;
  /** Start of the period that must remain restorable. */
  readonly fromMs: number;
}

/** @returns the number of removed objects, and `isBroken` if the current chain is damaged */
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

/** Returns true if the chain ended before the period, and a later chain covers its start. */
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
