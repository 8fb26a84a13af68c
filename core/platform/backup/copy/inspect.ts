// Reports the content of a copy, verifies all of it, and detects a folder whose disk is not mounted.
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { writeWholeFile } from '../../store/files/installation.ts';
import { decodeObject, parseName, type Destination } from './destination/destination.ts';
import { filesAmong, matchesNameSum } from './files.ts';
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

/** The message states the remedy. */
export class EmptiedFolder extends Error {}

interface KnownFolder {
  /** @throws EmptiedFolder if the folder was used before and is empty now */
  check(): Promise<void>;
  /** Records that the folder contains files of this server. */
  remember(): void;
}

/**
 * Records in the data directory which folder was used. If that folder is empty now, its disk is probably not
 * mounted, and new files would be written to the disk whose loss the copy must survive.
 * @param marker path of the marker file
 * @param folder absolute path
 */
export function createKnownFolder(marker: string, folder: string): KnownFolder {
  let isKnown = existsSync(marker) && readFileSync(marker, 'utf8').trim() === folder;
  return {
    async check() {
      if (isKnown && existsSync(marker) && (await isBare(folder)))
        throw new EmptiedFolder(
          `${folder} is empty or missing, but was in use before: mount the disk. ` +
            `To start over in this folder, delete ${marker}.`,
        );
    },
    remember() {
      if (isKnown && existsSync(marker)) return;
      try {
        writeWholeFile(marker, `${folder}\n`);
        isKnown = true;
      } catch {
        // A read-only data directory must not stop the copy that saves its data. The next call retries.
      }
    },
  };
}

/** Ignores hidden files, which are locks and unfinished files, and `lost+found`. */
async function isBare(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).every((name) => name.startsWith('.') || name === 'lost+found');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw error;
  }
}
