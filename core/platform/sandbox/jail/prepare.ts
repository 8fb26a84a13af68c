// Detects the jail mechanisms of this machine before sidecars are started.
import { jailEntry } from '../fleet/spawn.ts';
import { findHierarchies, sweep, type CgroupHierarchies } from './cgroup.ts';
import { findConfinement, noConfinement } from './confinement.ts';
import type { Confinement } from './confinement.ts';

export interface JailMeans {
  confinement: Confinement;
  hierarchies: CgroupHierarchies;
  entry: readonly string[];
}

export async function prepareJail(files: {
  readonly nodePath: string;
  readonly addonPath: string;
}): Promise<JailMeans> {
  if (process.platform !== 'linux') return { confinement: noConfinement, hierarchies: [], entry: [] };
  const hierarchies = findHierarchies();
  sweep(hierarchies);
  const confinement = await findConfinement({
    programs: [process.execPath, files.nodePath],
    libraries: [files.addonPath],
  });
  return { confinement, hierarchies, entry: await jailEntry() };
}
