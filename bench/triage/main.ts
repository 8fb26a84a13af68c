/**
 * Measures auto-triage on the NLBSE'24 issue report classification data (bug, feature, question; five repositories): cross-validated
 * macro-F1, calibration, recall of duplicates, CPU time in the engine of the sandbox, and size.
 * Run: `bun bench/triage/main.ts [FILE.csv] [--seeds 5] [--json]`. The folds are in `folds.json`.
 */
import { parseArgs } from 'node:util';
import { segmentIssuesMax } from '../../plugins/auto-triage/duplicates/segment.ts';
import { issueTypes } from '../../plugins/auto-triage/model/kind.ts';
import { crossValidate, type Run } from './cross-validate.ts';
import { dataFile, readRepositories } from './data.ts';
import { judgedPairs, mentionedPairs, recallAt5, retrieve } from './duplicates.ts';
import { accuracyOfSurest, atThreshold, calibrationError, macroF1, mean, spread } from './measures.ts';
import { cpuTimesOf } from './sandbox.ts';

/** Macro-F1 published for the companion test set of this data. */
const BASELINES = { fastText: 0.718, RoBERTa: 0.792, SetFit: 0.824 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
});
const repositories = readRepositories(positionals[0] ?? dataFile);
const all = repositories.flatMap(({ examples }) => examples);

const runs: Run[] = [];
const perRepository = repositories.map(({ name, examples, folds }) => {
  const own = [...folds.values()]
    .slice(0, Number(values.seeds))
    .map((foldOf) => crossValidate(examples, foldOf));
  runs.push(...own);
  const bySeed = own.map(({ outcomes }) => macroF1(outcomes, issueTypes));
  return {
    name,
    macroF1: mean(bySeed),
    bySeed,
    recallAt5: recallAt5(retrieve(examples)),
    mentioned: mentionedPairs(examples).length,
    duplicates: mentionedPairs(examples).filter((pair) => judgedPairs(name).get(pair.join('-'))).length,
  };
});
const cpuMs: number[] = [];
for (const repository of repositories) cpuMs.push(...(await cpuTimesOf(repository, repositories)));

const outcomes = runs.flatMap((run) => run.outcomes);
const report = {
  data: { repositories: repositories.length, issues: all.length, seeds: Number(values.seeds) },
  macroF1: {
    mean: mean(perRepository.map((one) => one.macroF1)),
    perRepository,
    baselines: BASELINES,
  },
  surest: [0.25, 0.5, 0.75, 1].map((share) => ({ share, ...accuracyOfSurest(outcomes, share) })),
  thresholds: [0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map((threshold) => ({
    threshold,
    ...atThreshold(outcomes, threshold),
  })),
  calibrationError: calibrationError(outcomes),
  recallAt5: recallAt5(retrieve(all)),
  trainMs: spread(runs.flatMap((run) => run.trainMs)),
  predictMs: spread(runs.flatMap((run) => run.predictMs)),
  sandboxCpuMs: { mean: mean(cpuMs), ...spread(cpuMs) },
  modelBytes: Math.max(...runs.map((run) => run.modelBytes)),
};

if (values.json) console.log(JSON.stringify(report));
else {
  console.log(
    'repository              macro-F1   by seed                         recall@5   mentioned, judged as duplicates',
  );
  for (const one of perRepository)
    console.log(
      `${one.name.padEnd(24)}${one.macroF1.toFixed(4)}    ${one.bySeed.map((f) => f.toFixed(3)).join(' ')}   ${one.recallAt5.toFixed(3)}      ${one.mentioned}, ${one.duplicates}`,
    );
  console.log(
    `${'mean'.padEnd(24)}${report.macroF1.mean.toFixed(4)}    recall@5 of ${all.length} issues in one index: ${report.recallAt5.toFixed(3)}`,
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
  const { sandboxCpuMs: cpu, trainMs, predictMs } = report;
  console.log(
    `with JIT: train ms median ${trainMs.median}, max ${trainMs.max} · kind ms median ${predictMs.median}, p99 ${predictMs.p99}`,
  );
  console.log(
    `without JIT: kind, evidence, priority and duplicates CPU ms mean ${cpu.mean.toFixed(2)}, median ${cpu.median}, p99 ${cpu.p99}`,
  );
  console.log(`model ${report.modelBytes} bytes, index in segments of ${segmentIssuesMax} issues`);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0).padStart(3)} %`;
}
