// What this machine offers for a jail, found out once before the first sidecar.
import { findPlaces, sweep, type Places } from './cgroup.ts';
import { findConfinement, noConfinement } from './confinement.ts';
import type { Confinement } from './confinement.ts';

export interface JailMeans {
  confinement: Confinement;
  places: Places;
}

/** @param files that a sidecar's process must be able to read */
export async function prepareJail(files: readonly string[]): Promise<JailMeans> {
  if (process.platform !== 'linux') return { confinement: noConfinement, places: [] };
  const places = findPlaces();
  sweep(places);
  return { confinement: await findConfinement(files), places };
}
