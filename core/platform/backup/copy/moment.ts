// Finds the restore target for a requested time, and reports the covered periods if there is none.
import { parseName } from './destination/names.ts';
import { reachesOf, type Chain, type Damaged, type Reach, type Segment } from './timeline.ts';

export interface RestoreTarget {
  readonly chain: Chain;
  readonly segment: Segment;
}

/** The copy does not cover the requested time, or is damaged. The message names the covered periods. */
export class CopyError extends Error {}

/** Returns the last segment at or before `timeMs`, or the newest. @throws CopyError */
export function findTarget(title: string, chains: readonly Chain[], timeMs: number | null): RestoreTarget {
  const installations = new Set(chains.map(({ installation }) => installation));
  if (installations.size > 1)
    throw new CopyError(
      `${title} contains copies of ${installations.size} installations. Specify one: ${[...installations].map((name) => `${title}/${name}`).join(', ')}.`,
    );
  const reaches = chains.flatMap(reachesOf).sort((a, b) => a.to.timeMs - b.to.timeMs);
  const newest = reaches.at(-1);
  if (!newest)
    throw new CopyError(
      `${title} contains no complete copy. Restore a backup, or wait until the first base is complete.${damageText(chains)}`,
    );
  if (timeMs === null || timeMs >= newest.to.timeMs) return newestOf(title, chains, newest, timeMs);
  const within = reaches.findLast(({ from, to }) => from.timeMs <= timeMs && timeMs < to.timeMs);
  const at = reaches.find(({ to }) => to.timeMs === timeMs);
  const reach = within ?? at;
  if (!reach)
    throw new CopyError(
      `${title} does not cover ${timeText(timeMs)}. Specify a time that the copy covers. ${reachText(reaches)}${damageText(chains)}`,
    );
  return { chain: reach.chain, segment: lastUntil(reach, timeMs) };
}

/** Rejects a target if later data exists but cannot be restored, so that its loss is not silent. */
function newestOf(
  title: string,
  chains: readonly Chain[],
  { chain, to }: Reach,
  timeMs: number | null,
): RestoreTarget {
  const isBeyond = (at: number): boolean => at > to.timeMs && timeMs !== to.timeMs;
  const lost = chains.some(
    ({ segments, damaged }) =>
      [...segments.values()].some((segment) => isBeyond(segment.timeMs)) ||
      damaged.some(({ name }) => isBeyond(segmentTimeMs(name))),
  );
  if (lost)
    throw new CopyError(
      `${title} is damaged or lacks objects after ${timeText(to.timeMs)}. ${reachText(chains.flatMap(reachesOf))}${damageText(chains)} Specify a time that the copy covers.`,
    );
  return { chain, segment: to };
}

function segmentTimeMs(name: string): number {
  const parsed = parseName(name);
  return parsed?.is === 'segment' ? parsed.timeMs : 0;
}

function lastUntil({ chain, from, to }: Reach, timeMs: number): Segment {
  for (let index = to.index; index > from.index; index--) {
    const segment = chain.segments.get(index);
    if (segment && segment.timeMs <= timeMs) return segment;
  }
  return from;
}

export const timeText = (timeMs: number): string => new Date(timeMs).toISOString();

function reachText(reaches: readonly Reach[]): string {
  const spans = reaches.map(({ from, to }) => `from ${timeText(from.timeMs)} to ${timeText(to.timeMs)}`);
  return spans.length === 0
    ? 'The copy covers no point in time.'
    : `The copy covers the time ${spans.join(', and ')}.`;
}

function damageText(chains: readonly { readonly damaged: readonly Damaged[] }[]): string {
  return chains
    .flatMap(({ damaged }) => damaged)
    .map(({ name, reason }) => ` ${name}: ${reason}.`)
    .join('');
}
