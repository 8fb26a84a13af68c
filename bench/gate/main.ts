// `bun run gate [--update REASON] [--repeat N]`: compares counts and CPU costs with `bench/baseline.json`. Exits with 1 if a count differs, or
// if a cost is above its limit twice in a row. See README.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Operation } from './counts.ts';
import { costNames, measureCosts, type CostName, type Costs } from './costs.ts';
import type { Counts } from './instruments.ts';

type AllCounts = Readonly<Record<Operation, Counts>>;

interface Baseline {
  /** Reason of the last change. */
  readonly reason: string;
  readonly counts: AllCounts;
  readonly costs: Costs;
  /** Counts and costs of the first baseline, which never change. */
  readonly first: { readonly counts: AllCounts; readonly costs: Costs };
}

const path = fileURLToPath(new URL('../baseline.json', import.meta.url));
/**
 * Largest ratio of a cost to its baseline. The standard deviation of a measurement is some 6 %. The first use of a page takes from
 * 0.2 to 12 µs, by the virtual machine, so that the time of a start varies by a third; its pages vary by 2 %.
 */
const costLimits: Costs = { create: 1.2, createAndRun: 1.25, start: 1.5, startPages: 1.1, idleMemory: 1.15 };
/** Largest ratio of any count or cost to the first baseline. */
const driftMax = 1.4;
/** Absolute tolerance of a count. The split of a page depends on random ids. */
const framesTolerance = 2;
/** Relative tolerance: compressed texts contain random ids, which compress less on a busy machine, where more time is between them. */
const bytesTolerance = 0.05;

const { values } = parseArgs({
  options: { update: { type: 'string' }, repeat: { type: 'string', default: '1' } },
});

async function countsOnce(): Promise<AllCounts> {
  const program = fileURLToPath(new URL('counts.ts', import.meta.url));
  const child = Bun.spawn([process.execPath, program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error('The counts could not be measured.');
  return JSON.parse(text) as AllCounts;
}

const scalars = ['commits', 'frames', 'events', 'writerBytes', 'compressions', 'sidecarMessages'] as const;

/** Returns one line for each count that differs from the baseline by more than its tolerance. */
function differences(now: AllCounts, baseline: AllCounts): string[] {
  return Object.entries(baseline).flatMap(([operation, before]) => {
    const after = now[operation as Operation];
    const lines: string[] = [];
    const compare = (name: string, was: number, is: number): void => {
      const tolerance =
        name === 'frames' ? framesTolerance : name === 'writerBytes' ? was * bytesTolerance : 0;
      if (Math.abs(is - was) > tolerance) lines.push(`${operation}: ${name} ${was} → ${is}`);
    };
    for (const name of scalars) compare(name, before[name], after[name]);
    for (const group of ['statements', 'reads'] as const)
      for (const name of new Set([...Object.keys(before[group]), ...Object.keys(after[group])]))
        compare(`${group} ${name}`, before[group][name] ?? 0, after[group][name] ?? 0);
    return lines;
  });
}

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, one) => sum + one, 0);

/** Returns one line for each count or cost that has grown too much since the first baseline. */
function drifts(counts: AllCounts, costs: Partial<Costs>, { first }: Baseline): string[] {
  const lines: string[] = [];
  const compare = (name: string, was: number, is: number, most = driftMax): void => {
    const drift = is / was;
    console.log(`  ${name}: ${show(was)} → ${show(is)} (${drift.toFixed(2)})`);
    if (drift > most) lines.push(`${name} has grown to ${drift.toFixed(2)} times its first baseline`);
  };
  for (const [operation, before] of Object.entries(first.counts)) {
    const after = counts[operation as Operation];
    for (const name of scalars)
      if (before[name] > 0) compare(`${operation}: ${name}`, before[name], after[name]);
    compare(`${operation}: statements`, total(before.statements), total(after.statements));
    const reads = total(before.reads);
    if (reads > 0) compare(`${operation}: reads`, reads, total(after.reads));
  }
  for (const name of costNames)
    if (costs[name] !== undefined)
      compare(name, first.costs[name], costs[name], Math.max(driftMax, costLimits[name]));
  return lines;
}

const show = (value: number): string => (Number.isInteger(value) ? `${value}` : value.toPrecision(3));

const tooHigh = (costs: Partial<Costs>, { costs: before }: Baseline): CostName[] =>
  costNames.filter((name) => costs[name] !== undefined && costs[name] > before[name] * costLimits[name]);

async function check(baseline: Baseline): Promise<boolean> {
  let counts = await countsOnce();
  let wrong = differences(counts, baseline.counts);
  if (wrong.length > 0) {
    // A machine that stops for seconds can move work from one commit to the next.
    counts = await countsOnce();
    wrong = differences(counts, baseline.counts);
  }
  const costs = await measureCosts(costNames);
  const high = tooHigh(costs, baseline);
  const again = high.length > 0 ? await measureCosts(high) : {};
  const stillHigh = tooHigh(again, baseline).filter((name) => high.includes(name));
  for (const name of costNames)
    console.log(
      `${name}: ${show(costs[name]!)}${again[name] === undefined ? '' : `, again ${show(again[name])}`} (baseline ${show(baseline.costs[name])}, limit ${costLimits[name]} ×)`,
    );
  console.log('Since the first baseline:');
  const failures = [
    ...wrong,
    ...stillHigh.map((name) => `${name}: the cost is above its limit, twice`),
    ...drifts(counts, { ...costs, ...again }, baseline),
  ];
  for (const failure of failures) console.log(`✗ gate: ${failure}`);
  if (failures.length > 0)
    console.log(
      'Undo the growth, or state its reason: bun run gate --update "…", and commit bench/baseline.json.',
    );
  return failures.length === 0;
}

async function update(reason: string): Promise<void> {
  const before = readBaseline();
  const [counts, costs] = [await countsOnce(), (await measureCosts(costNames)) as Costs];
  const first = before?.first ?? { counts, costs };
  const baseline: Baseline = { reason, counts, costs, first };
  writeFileSync(path, `${JSON.stringify(baseline, null, 2)}\n`);
  console.log(before ? differences(counts, before.counts).join('\n') : 'The first baseline is written.');
}

function readBaseline(): Baseline | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Baseline;
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null;
    throw error;
  }
}

if (values.update !== undefined) await update(values.update);
else {
  const baseline = readBaseline();
  if (!baseline) throw new Error('bench/baseline.json is missing. Create it with bun run gate --update "…".');
  for (let round = 0; round < Number(values.repeat); round++) if (!(await check(baseline))) process.exit(1);
}
process.exit(0);
