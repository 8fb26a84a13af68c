// Reports the content of a copy, and verifies all of it.
import type { Destination } from './destination/destination.ts';
import { filesAmong, matchesNameSum } from './files.ts';
import { parseName } from './destination/names.ts';
import { decodeObject } from './destination/object.ts';
import { reachesOf, readTimeline, reasonOf, without, type Chain, type Damaged } from './timeline.ts';

export interface CopyReport {
  readonly chains: readonly ChainReport[];
  readonly damaged: readonly Damaged[];
}

interface ChainReport {
  readonly chain: string;
  readonly installation: string | null;
  readonly bases: number;
  readonly segments: number;
  readonly objects: number;
  /** Covered periods, ms since the epoch; times between two periods cannot be restored. */
  readonly moments: readonly { readonly fromMs: number; readonly toMs: number }[];
}

/** Reads only object names and manifests. */
export async function listCopy(source: Destination): Promise<CopyReport> {
  return reportOf(await readTimeline(source));
}

/** Reads and verifies every object. @param onProgress called with the number of objects read, and their total */
export async function verifyCopy(
  source: Destination,
  onProgress: (done: number, of: number) => void = () => undefined,
): Promise<CopyReport> {
  const chains = await readTimeline(source);
  const files = filesAmong(await source.list());
  const objects = chains.reduce((sum, { names }) => sum + names.length, files.length);
  const checked: Chain[] = [];
  let done = 0;
  for (const chain of chains) {
    const known = new Set(chain.damaged.map(({ name }) => name));
    const damaged: Damaged[] = [];
    for (const name of chain.names) {
      onProgress(done++, objects);
      const reason = known.has(name) ? null : await damageOf(source, name);
      if (reason !== null) damaged.push({ name, reason });
    }
    checked.push(without(chain, damaged));
  }
  const damagedFiles: Damaged[] = [];
  for (const name of files) {
    onProgress(done++, objects);
    const reason = await fileDamageOf(source, name);
    if (reason !== null) damagedFiles.push({ name, reason });
  }
  const report = reportOf(checked);
  return { ...report, damaged: [...report.damaged, ...damagedFiles] };
}

async function fileDamageOf(source: Destination, name: string): Promise<string | null> {
  try {
    return matchesNameSum(name, await source.get(name)) ? null : 'the checksum is wrong';
  } catch (error) {
    return reasonOf(error);
  }
}

async function damageOf(source: Destination, name: string): Promise<string | null> {
  const parsed = parseName(name);
  if (!parsed || parsed.is === 'other') return null;
  const kind =
    parsed.is === 'head'
      ? 'chain'
      : parsed.is === 'base' && parsed.part === 'manifest'
        ? 'manifest'
        : parsed.is;
  try {
    const { head } = await decodeObject(kind, await source.get(name));
    return head.chain === parsed.chain ? null : 'the object belongs to another chain';
  } catch (error) {
    return reasonOf(error);
  }
}

function reportOf(chains: readonly Chain[]): CopyReport {
  return {
    chains: chains.map((chain) => ({
      chain: chain.chain,
      installation: chain.installation,
      bases: chain.bases.length,
      segments: chain.segments.size,
      objects: chain.names.length,
      moments: reachesOf(chain).map(({ from, to }) => ({ fromMs: from.timeMs, toMs: to.timeMs })),
    })),
    damaged: chains.flatMap(({ damaged }) => damaged),
  };
}
