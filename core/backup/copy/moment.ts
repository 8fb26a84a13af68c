// Finds the moment that a restore asks for, and says what is reached where it is not.
import { parseName } from './names.ts';
import { reachesOf, type Chain, type Damaged, type Reach, type Segment } from './timeline.ts';

export interface Target {
  readonly chain: Chain;
  readonly segment: Segment;
}

/** The copy does not reach the moment, or is damaged. The message says what it reaches. */
export class CopyError extends Error {}

/**
 * The last moment at or before `timeMs`, or the newest.
 * @throws CopyError
 */
export function findTarget(title: string, chains: readonly Chain[], timeMs: number | null): Target {
  const installations = new Set(chains.map(({ installation }) => installation));
  if (installations.size > 1)
    throw new CopyError(
      `${title} holds copies of ${installations.size} installations. Name one: ${[...installations].map((name) => `${title}/${name}`).join(', ')}.`,
    );
  const reaches = chains.flatMap(reachesOf).sort((a, b) => a.to.timeMs - b.to.timeMs);
  const newest = reaches.at(-1);
  if (!newest) throw new CopyError(`${title} holds no whole copy.${damageText(chains)}`);
  if (timeMs === null || timeMs >= newest.to.timeMs) return newestOf(title, chains, newest, timeMs);
  const within = reaches.findLast(({ from, to }) => from.timeMs <= timeMs && timeMs < to.timeMs);
  const at = reaches.find(({ to }) => to.timeMs === timeMs);
  const reach = within ?? at;
  if (!reach)
    throw new CopyError(
      `${title} does not reach ${timeText(timeMs)}. ${reachText(reaches)}${damageText(chains)}`,
    );
  return { chain: reach.chain, segment: lastUntil(reach, timeMs) };
}

/** What comes behind the newest moment that is reached, and cannot be, must not be passed over in silence. */
function newestOf(
  title: string,
  chains: readonly Chain[],
  { chain, to }: Reach,
  timeMs: number | null,
): Target {
  const isBeyond = (at: number): boolean => at > to.timeMs && timeMs !== to.timeMs;
  const lost = chains.some(
    ({ segments, damaged }) =>
      [...segments.values()].some((segment) => isBeyond(segment.timeMs)) ||
      damaged.some(({ name }) => isBeyond(segmentTimeMs(name))),
  );
  if (lost)
    throw new CopyError(
      `${title} is damaged or lacks objects behind ${timeText(to.timeMs)}. ${reachText(chains.flatMap(reachesOf))}${damageText(chains)} Name a moment that it reaches.`,
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
  return spans.length === 0 ? 'It reaches no moment.' : `It reaches ${spans.join(', and ')}.`;
}

function damageText(chains: readonly { readonly damaged: readonly Damaged[] }[]): string {
  return chains
    .flatMap(({ damaged }) => damaged)
    .map(({ name, reason }) => ` ${name}: ${reason}.`)
    .join('');
}
