// Results of a benchmark: ratios with a target, and figures without one.

export interface Side {
  readonly perSecond: number;
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Ratio {
  readonly name: string;
  readonly ours: number;
  readonly yardstick: number;
  readonly unit: string;
  readonly ratio: number;
  /** The same ratio in CPU time per request, which is less affected by other load on the machine. */
  readonly cpuRatio: number | null;
  readonly reach: number;
  /** True if `reach` applies to `cpuRatio`, which the load of other processes affects less. */
  readonly isByCpu?: boolean;
  /** `least` if the target is a minimum, `most` if it is a maximum. */
  readonly bound: 'least' | 'most';
  readonly ok: boolean;
  readonly sides: Readonly<Record<string, Side>>;
}

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

export interface Findings {
  readonly ratios?: readonly Ratio[];
  readonly figures?: readonly Figure[];
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function judged(ratio: Omit<Ratio, 'ratio' | 'ok'>): Ratio {
  const value = ratio.ours / ratio.yardstick;
  const compared = ratio.isByCpu && ratio.cpuRatio !== null ? ratio.cpuRatio : value;
  return {
    ...ratio,
    ratio: value,
    ok: ratio.bound === 'least' ? compared >= ratio.reach : compared <= ratio.reach,
  };
}

export function printTable({ ratios = [], figures = [] }: Findings): void {
  const lines = ratios.map((row) => [
    row.name,
    `${show(row.ours)} ${row.unit}`,
    `${show(row.yardstick)} ${row.unit}`,
    row.ratio.toFixed(2),
    row.cpuRatio === null ? '' : row.cpuRatio.toFixed(2),
    `${row.bound === 'least' ? '≥' : '≤'} ${row.reach}${row.isByCpu ? ' by cpu' : ''}`,
    row.ok ? 'ok' : 'missed',
  ]);
  if (lines.length > 0)
    printColumns([['benchmark', 'ours', 'baseline', 'ratio', 'by cpu', 'target', ''], ...lines]);
  const sides = ratios.flatMap((row) =>
    Object.entries(row.sides).map(([side, { perSecond, cpuUs, p50Ms, p99Ms }]) => [
      `${row.name}: ${side}`,
      `${show(perSecond)}/s`,
      `${show(cpuUs)} µs cpu`,
      `p50 ${show(p50Ms)} ms`,
      `p99 ${show(p99Ms)} ms`,
    ]),
  );
  if (sides.length > 0) printColumns([[''], ...sides]);
  if (figures.length > 0)
    printColumns([[''], ...figures.map(({ name, value, unit }) => [name, `${show(value)} ${unit}`])]);
}

function printColumns(rows: readonly (readonly string[])[]): void {
  const widths = rows.reduce<number[]>((all, row) => {
    row.forEach((cell, i) => (all[i] = Math.max(all[i] ?? 0, cell.length)));
    return all;
  }, []);
  for (const row of rows)
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    );
}

function show(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}
