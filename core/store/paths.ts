// The paths of a data directory. Symbolic links are listed and never followed: what they lead to is not part of the directory.
import { lstatSync, readdirSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';

export interface PathFacts {
  readonly path: string;
  readonly stats: Stats;
}

/** The directory itself first, which may be named by a link. `readdirSync` with `recursive` would follow links inside it. */
export function pathsOf(dir: string): PathFacts[] {
  return [{ path: dir, stats: statSync(dir) }, ...pathsIn(dir)];
}

function pathsIn(folder: string): PathFacts[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    // A running server removes files meanwhile.
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return [];
    return [{ path, stats }, ...(stats.isDirectory() ? pathsIn(path) : [])];
  });
}

/** The files below a folder, without those that a symbolic link leads to. */
export const filesIn = (folder: string): string[] =>
  pathsIn(folder)
    .filter(({ stats }) => stats.isFile())
    .map(({ path }) => path);

export const linksOf = (dir: string): string[] =>
  pathsOf(dir)
    .filter(({ stats }) => stats.isSymbolicLink())
    .map(({ path }) => path);
