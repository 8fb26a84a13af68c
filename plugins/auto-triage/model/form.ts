// Kernel over the form of issues (`structure.ts`): exp(-distance² × sharpness), the only non-linear part.
import { encodeLevels, levelAt, levelCount } from './codec.ts';
import type { FormModel } from './model.ts';

const formWeight = 4;
export const kernelSharpness = 0.5;
/** Lower bound of the deviation, so that nearly constant columns are not amplified. */
const deviationMin = 0.05;

export function kernelOf(distanceSquared: number): number {
  return formWeight * Math.exp(-kernelSharpness * distanceSquared);
}

/** Returns the quantised rows with their scales, as stored in a model and used in its training. */
export function fitForm(
  rows: readonly Float64Array[],
  kinds: readonly number[],
): Pick<FormModel, 'scales' | 'maxima' | 'rows'> {
  const width = rows[0]?.length ?? 0;
  const maxima: number[] = [];
  const sharpness: number[] = [];
  let typical = 0;
  for (let column = 0; column < width; column++) {
    const values = rows.map((row) => row[column] ?? 0);
    const { deviation, separation } = describe(values, kinds);
    const spread = Math.max(deviationMin, deviation);
    const weight = Math.sqrt(separation);
    sharpness.push(weight / (spread * spread));
    // The squared difference of two samples of a column is on average twice its variance.
    typical += (2 * weight * deviation * deviation) / (spread * spread);
    maxima.push(Number(values.reduce((a, b) => Math.max(a, b), 0).toPrecision(4)));
  }
  const scales = sharpness.map((s) => Number(Math.sqrt(s / (typical || 1)).toPrecision(4)));
  const texts = rows.map((row) =>
    encodeLevels(Array.from(row, (value, column) => (value / (maxima[column] || 1)) * (levelCount - 1))),
  );
  return { scales, maxima, rows: texts };
}

/**
 * Returns the deviation of a column, and how well it separates the kinds: the F statistic, about 1 for a random
 * column.
 */
function describe(
  values: readonly number[],
  kinds: readonly number[],
): { deviation: number; separation: number } {
  const n = values.length;
  const mean = values.reduce((a, b) => a + b, 0) / n;
  const total = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  let between = 0;
  for (const kind of [0, 1, 2]) {
    const own = values.filter((_, i) => kinds[i] === kind);
    if (own.length > 0) between += own.length * (own.reduce((a, b) => a + b, 0) / own.length - mean) ** 2;
  }
  return { deviation: Math.sqrt(total / n), separation: (between / (total + 1e-6)) * (n / 2) };
}

/** Returns stored rows as scaled points; distances between them are those of the kernel. */
export function readRows(form: Pick<FormModel, 'scales' | 'maxima' | 'rows'>): Float64Array[] {
  return form.rows.map((text) => {
    const row = new Float64Array(text.length);
    for (let i = 0; i < text.length; i++)
      row[i] = ((levelAt(text, i) * (form.maxima[i] ?? 0)) / (levelCount - 1)) * (form.scales[i] ?? 0);
    return row;
  });
}

export function toPoint(values: ArrayLike<number>, scales: readonly number[]): Float64Array {
  return Float64Array.from(scales, (scale, i) => (values[i] ?? 0) * scale);
}

export function distanceSquared(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    sum += difference * difference;
  }
  return sum;
}
