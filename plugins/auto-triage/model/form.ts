/** The kernel over the form of issues (`structure.ts`): exp(-distance² × sharpness), the one part that is not linear. */
import { encodeLevels, levelAt, LEVELS } from './codec.ts';
import type { FormModel } from './model.ts';

export const FORM_WEIGHT = 2;
const SHARPNESS = 0.2;
/** Columns that hardly vary are not blown up. */
const DEVIATION_MIN = 0.05;

export function kernelOf(distanceSquared: number): number {
  return FORM_WEIGHT * Math.exp(-SHARPNESS * distanceSquared);
}

/** Quantised rows with their scales; what a model stores, and what its learner must compute with. */
export function fitForm(rows: readonly Float64Array[]): Pick<FormModel, 'scales' | 'maxima' | 'rows'> {
  const width = rows[0]?.length ?? 0;
  const maxima: number[] = [];
  const deviations: number[] = [];
  for (let column = 0; column < width; column++) {
    let sum = 0;
    let squares = 0;
    let max = 0;
    for (const row of rows) {
      const value = row[column] ?? 0;
      sum += value;
      squares += value * value;
      if (value > max) max = value;
    }
    const mean = sum / rows.length;
    deviations.push(Math.max(DEVIATION_MIN, Math.sqrt(Math.max(0, squares / rows.length - mean * mean))));
    maxima.push(Number(max.toPrecision(4)));
  }
  // Two draws of a column differ by twice its variance on average: the columns that vary, summed, make the typical distance.
  const varying = deviations.filter((deviation) => deviation > DEVIATION_MIN).length || 1;
  const scales = deviations.map((deviation) =>
    Number((1 / (deviation * Math.sqrt(2 * varying))).toPrecision(4)),
  );
  const texts = rows.map((row) =>
    encodeLevels(Array.from(row, (value, column) => (value / (maxima[column] || 1)) * (LEVELS - 1))),
  );
  return { scales, maxima, rows: texts };
}

/** Stored rows as scaled points, distances between which are those of the kernel. */
export function readRows(form: Pick<FormModel, 'scales' | 'maxima' | 'rows'>): Float64Array[] {
  return form.rows.map((text) => {
    const row = new Float64Array(text.length);
    for (let i = 0; i < text.length; i++)
      row[i] = ((levelAt(text, i) * (form.maxima[i] ?? 0)) / (LEVELS - 1)) * (form.scales[i] ?? 0);
    return row;
  });
}

export function toPoint(values: ArrayLike<number>, scales: readonly number[]): Float64Array {
  return Float64Array.from(scales, (scale, i) => (values[i] ?? 0) * scale);
}

export function distanceSquared(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    sum += difference * difference;
  }
  return sum;
}
