// Height of the rows of lists, remembered in this browser.
import { useState } from 'react';

export const densities = ['comfortable', 'compact'] as const;
export type Density = (typeof densities)[number];

const key = 'tatami.density';
const heights: Readonly<Record<Density, number>> = { comfortable: 40, compact: 30 };
/** Targets for fingers are larger (WCAG 2.2, 2.5.8). */
const coarseHeight = 48;

/** Returns density, height of a row in pixels, and a function that changes the density. */
export function useDensity(): {
  density: Density;
  rowHeight: number;
  setDensity: (density: Density) => void;
} {
  const [density, set] = useState<Density>(
    () => densities.find((one) => one === localStorage.getItem(key)) ?? 'comfortable',
  );
  const isCoarse = matchMedia('(pointer: coarse)').matches;
  return {
    density,
    rowHeight: isCoarse ? coarseHeight : heights[density],
    setDensity(next) {
      localStorage.setItem(key, next);
      set(next);
    },
  };
}
