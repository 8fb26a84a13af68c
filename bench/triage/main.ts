/**
 * Measures the learned part of auto-triage on the NLBSE'24 issue report classification data (bug, feature, question; five
 * repositories): stratified k-fold cross-validation per repository with seeded folds, macro-F1, calibration, cost.
 * Run: `bun bench/triage/main.ts [FILE.csv] [--seeds 5] [--folds 5] [--json]`.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'csv-parse/sync';
import { issueTypes, type IssueType } from '../../plugins/auto-triage/model/kind.ts';
import type { Example } from '../../plugins/auto-triage/model/train.ts';
import { crossValidate, type Run } from './cross-validate.ts';
import { accuracyOfSurest, atThreshold, calibrationError, macroF1 } from './measures.ts';

/** Macro-F1 published for the companion test set of this data. */
const BASELINES = { fastText: 0.718, RoBERTa: 0.792, SetFit: 0.824 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '5' },
    folds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
});
const file =
  positionals[0] ?? fileURLToPath(new URL('../../../shared/data/nlbse24-train.csv', import.meta.url));
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => i + 1);

type LabelledIssue = { repo: string; label: IssueType; title: string; body: string };
const rows: LabelledIssue[] = parse(readFileSync(file), { columns: true });
const repositories = Map.groupBy(rows, ({ repo }) => repo);

const runs: Run[] = [];
const perRepository: Record<string, { macroF1: number; bySeed: number[] }> = {};
for (const [repository, issues] of repositories) {
  const examples: Example[] = issues.map(({ label, title, body }) => ({
    kind: label,
    title,
    description: body,
  }));
  const ofRepository = seeds.map((seed) => crossValidate(examples, Number(values.folds), seed));
  const bySeed = ofRepository.map(({ outcomes }) => macroF1(outcomes, issueTypes));
  perRepository[repository] = { macroF1: mean(bySeed), bySeed };
  runs.push(...ofRepository);
  if (!values.json)
    console.log(
      `${repository.padEnd(28)} macro-F1 ${mean(bySeed).toFixed(4)}   by seed ${bySeed.map((f) => f.toFixed(3)).join(' ')}`,
    );
}

const outcomes = runs.flatMap((run) => run.outcomes);
const report = {
  data: { repositories: repositories.size, issues: rows.length, folds: Number(values.folds), seeds },
  macroF1: {
    mean: mean(Object.values(perRepository).map((r) => r.macroF1)),
    perRepository,
    baselines: BASELINES,
  },
  surest: [0.25, 0.5, 0.75, 1].map((share) => ({ share, ...accuracyOfSurest(outcomes, share) })),
  thresholds: [0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map((threshold) => ({
    threshold,
    ...atThreshold(outcomes, threshold),
  })),
  calibrationError: calibrationError(outcomes),
  trainMs: spread(runs.flatMap((run) => run.trainMs)),
  predictMs: spread(runs.flatMap((run) => run.predictMs)),
  modelBytes: Math.max(...runs.map((run) => run.modelBytes)),
};

if (values.json) console.log(JSON.stringify(report));
else {
  console.log(
    `${'mean'.padEnd(28)} macro-F1 ${report.macroF1.mean.toFixed(4)}   (${seeds.length} seeds × ${values.folds} folds)`,
  );
  console.log(
    `published, on the companion test set: ${Object.entries(BASELINES)
      .map(([name, f]) => `${name} ${f}`)
      .join(', ')}`,
  );
  for (const { share, accuracy, from } of report.surest)
    console.log(
      `most confident ${percent(share)}: ${percent(accuracy)} correct (confidence ≥ ${from.toFixed(2)})`,
    );
  for (const { threshold, labelled, accuracy } of report.thresholds)
    console.log(`threshold ${threshold}: labels ${percent(labelled)}, ${percent(accuracy)} of them correct`);
  console.log(`calibration error ${report.calibrationError.toFixed(3)}`);
  console.log(
    `train ms: median ${report.trainMs.median}, max ${report.trainMs.max} · predict ms: median ${report.predictMs.median}, p99 ${report.predictMs.p99}, max ${report.predictMs.max} · model ${report.modelBytes} bytes`,
  );
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, n) => sum + n, 0) / (numbers.length || 1);
}

function spread(numbers: readonly number[]): { median: number; p99: number; max: number } {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2));
  return { median: at(0.5), p99: at(0.99), max: at(1) };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0).padStart(3)} %`;
}
