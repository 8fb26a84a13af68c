// Determines the periods that a copy covers, from object names and base manifests. A time is covered if a complete base exists, and
// every segment from the first one of that base up to that time.
import type { Destination } from './destination/destination.ts';
import { manifestName, parseName, type CopyMoment, type ParsedName } from './destination/names.ts';
import { decodeObject, type BaseManifest } from './destination/object.ts';

export interface Segment extends CopyMoment {
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

/** Period without gaps. */
export interface Reach {
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
