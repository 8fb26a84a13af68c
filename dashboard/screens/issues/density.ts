// Height of the rows of lists.
import type { Preferences } from '@tatami/sdk/client';
import { usePreferences } from '../../data/preferences.ts';

export const densities = ['comfortable', 'compact'] as const;
export type Density = Preferences['density'];

const heights: Readonly<Record<Density, number>> = { comfortable: 40, compact: 30 };
/** Targets for fingers are larger (WCAG 2.2, 2.5.8). */
const coarseHeight = 48;

/** Returns density and height of a row in pixels. */
export function useDensity(): { density: Density; rowHeight: number } {
  const { density } = usePreferences();
  const isCoarse = matchMedia('(pointer: coarse)').matches;
  return { density, rowHeight: isCoarse ? coarseHeight : heights[density] };
}
