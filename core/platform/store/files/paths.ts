// Lists the paths of a data directory. Symbolic links are listed but not followed: their targets are not part of the directory.
import { lstatSync, readdirSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';

export interface PathFacts {
  readonly path: string;
  readonly stats: Stats;
}

/** Lists the directory itself first; it may be a link. `readdirSync` with `recursive` would follow links inside it. */
export function pathsOf(dir: string): PathFacts[] {
  return [{ path: dir, stats: statSync(dir) }, ...pathsIn(dir)];
}

function pathsIn(folder: string): PathFacts[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    // A running server may remove files meanwhile.
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return [];
    return [{ path, stats }, ...(stats.isDirectory() ? pathsIn(path) : [])];
  });
}

/** Lists the files below a folder, excluding targets of symbolic links. */
export const filesIn = (folder: string): string[] =>
  pathsIn(folder)
    .filter(({ stats }) => stats.isFile())
    .map(({ path }) => path);

export const linksOf = (dir: string): string[] =>
  pathsOf(dir)
    .filter(({ stats }) => stats.isSymbolicLink())
    .map(({ path }) => path);
