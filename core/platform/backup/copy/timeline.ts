// Determines the periods that a copy covers, from object names and base manifests, and the restore target for
// a requested time.
import {
  decodeObject,
  manifestName,
  parseName,
  type BaseManifest,
  type CopyMoment,
  type Destination,
  type ParsedName,
} from './destination/destination.ts';

interface Segment extends CopyMoment {
  /** Object names of its parts, ascending. */
  readonly names: readonly string[];
}

export interface Base extends BaseManifest {
  /** Object names of its parts, ascending. */
  readonly names: readonly string[];
}

export interface Chain {
  readonly root: string;
  readonly installation: string | null;
  readonly chain: string;
  /** Finished bases in order of creation. */
  readonly bases: readonly Base[];
  /** Complete segments by index. */
  readonly segments: ReadonlyMap<number, Segment>;
  /** All object names below the root. */
  readonly names: readonly string[];
  /** Unusable or missing objects, with the reason. */
  readonly damaged: readonly Damaged[];
}

export interface Damaged {
  readonly name: string;
  readonly reason: string;
}

/**
 * Period without gaps. A time is covered if a complete base exists, and every segment from the first one of
 * that base up to that time.
 */
interface Reach {
  readonly chain: Chain;
  readonly from: Segment;
  readonly to: Segment;
}

/** Returns the chains in the order of their start. */
export async function readTimeline(source: Destination): Promise<Chain[]> {
  const byRoot = Map.groupBy(
    (await source.list()).flatMap((name) => {
      const parsed = parseName(name);
      return parsed ? [{ name, parsed }] : [];
    }),
    ({ parsed }) => parsed.root,
  );
  const chains = await Promise.all([...byRoot.values()].map((objects) => chainOf(source, objects)));
  return chains.sort((a, b) => (a.chain < b.chain ? -1 : 1));
}

type ChainObjects = readonly { readonly name: string; readonly parsed: ParsedName }[];

async function chainOf(source: Destination, objects: ChainObjects): Promise<Chain> {
  const { root, installation, chain } = objects[0]!.parsed;
  const damaged: Damaged[] = [];
  const bases: Base[] = [];
  for (const [number, names] of basesOf(objects)) {
    try {
      const { head } = await decodeObject('manifest', await source.get(manifestName(root, number)));
      if (head.parts !== names.length) throw new Error(`${head.parts - names.length} parts are missing`);
      bases.push({ ...head, names });
    } catch (error) {
      damaged.push({ name: manifestName(root, number), reason: reasonOf(error) });
    }
  }
  const names = objects.map(({ name }) => name);
  const segments = segmentsOf(objects);
  for (const index of missingOf([...segments.keys()]))
    damaged.push({ name: `${root}segments/${index}`, reason: 'the segment is missing' });
  return { root, installation, chain, bases, segments, names, damaged };
}

/** Pruning removes only the oldest segments, so a gap is damage. @param indices ascending */
function missingOf(indices: readonly number[]): number[] {
  const missing: number[] = [];
  for (const [at, index] of indices.entries())
    for (let lacking = (indices[at - 1] ?? index) + 1; lacking < index; lacking++) missing.push(lacking);
  return missing;
}

/** Returns the finished bases, which are those with a manifest. */
function basesOf(objects: ChainObjects): [number, string[]][] {
  const parts = new Map<number, string[]>();
  const finished: number[] = [];
  for (const { name, parsed } of objects) {
    if (parsed.is !== 'base') continue;
    if (parsed.part === 'manifest') finished.push(parsed.base);
    else parts.set(parsed.base, [...(parts.get(parsed.base) ?? []), name]);
  }
  return finished.sort((a, b) => a - b).map((number) => [number, (parts.get(number) ?? []).sort()]);
}

function segmentsOf(objects: ChainObjects): Map<number, Segment> {
  const parts = Map.groupBy(
    objects.flatMap(({ name, parsed }) => (parsed.is === 'segment' ? [{ name, ...parsed }] : [])),
    ({ index }) => index,
  );
  const whole = [...parts].flatMap(([index, of]): [number, Segment][] => {
    const { parts: wanted, timeMs, position } = of[0]!;
    const names = of.map(({ name }) => name).sort();
    return names.length === wanted ? [[index, { index, timeMs, position, names }]] : [];
  });
  return new Map(whole.sort(([a], [b]) => a - b));
}

/** Returns the consecutive segments from the first one of a base on; empty if the base is not usable yet. */
export function runOf({ segments }: Chain, { first, end }: Base): Segment[] {
  const run: Segment[] = [];
  for (let index = first; ; index++) {
    const segment = segments.get(index);
    if (!segment) return index > end ? run : [];
    run.push(segment);
  }
}

/** Returns the covered periods in order; times between two periods cannot be restored. */
export function reachesOf(chain: Chain): Reach[] {
  const reaches: Reach[] = [];
  for (const base of chain.bases) {
    const run = runOf(chain, base);
    const from = run.find(({ index }) => index === base.end);
    const to = run.at(-1);
    if (!from || !to) continue;
    const last = reaches.at(-1);
    if (last && from.index <= last.to.index)
      reaches[reaches.length - 1] = { ...last, to: later(last.to, to) };
    else reaches.push({ chain, from, to });
  }
  return reaches;
}

const later = (a: Segment, b: Segment): Segment => (a.index < b.index ? b : a);

/** Returns the chain without these objects, and adds them to `damaged`. */
export function without(chain: Chain, damaged: readonly Damaged[]): Chain {
  const gone = new Set(damaged.map(({ name }) => name));
  const isWhole = ({ names }: { names: readonly string[] }): boolean => !names.some((name) => gone.has(name));
  return {
    ...chain,
    bases: chain.bases.filter(isWhole),
    segments: new Map([...chain.segments].filter(([, segment]) => isWhole(segment))),
    damaged: [...chain.damaged, ...damaged],
  };
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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
