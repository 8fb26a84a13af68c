// Accuracy of auto-triage. The sample of the repository guards against gross errors; TATAMI_LONG=1 measures the NLBSE'24
// issues with the folds of bench/triage, which is the published measurement.
import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { crossValidate } from '../bench/triage/cross-validate.ts';
import { dataFile, readRepositories } from '../bench/triage/data.ts';
import { judgedPairs, mentionedPairs, recallAt5, retrieve } from '../bench/triage/duplicates.ts';
import folds from '../bench/triage/folds.json';
import { macroF1, mean } from '../bench/triage/measures.ts';
import { cpuTimesOf } from '../bench/triage/sandbox.ts';
import { issueTypes, type IssueType } from '../plugins/auto-triage/model/kind.ts';

const longMs = 600_000;
const isLong = process.env.TATAMI_LONG !== undefined;

interface SampleIssue {
  repo: string;
  label: IssueType | '';
  title: string;
  body: string;
}
const sample: SampleIssue[] = parse(readFileSync(join(import.meta.dir, '../examples/main-job/sample.csv')), {
  columns: true,
});
const examples = sample.flatMap(({ label, title, body }) =>
  label === '' ? [] : [{ kind: label, title, description: body }],
);

describe('on the sample of the repository', () => {
  test('kinds are recognised across its two teams', () => {
    const { outcomes } = crossValidate(
      examples,
      examples.map((_, i) => Math.floor(i / 3) % 4),
    );
    expect(macroF1(outcomes, issueTypes)).toBeGreaterThan(0.8);
  });

  test('titles find their descriptions', () => {
    expect(recallAt5(retrieve(examples))).toBeGreaterThan(0.8);
  });
});

test('every fold of every seed has as many issues of each kind', () => {
  for (const { name, kinds, folds: bySeed } of folds.repositories) {
    expect([name, bySeed.length]).toEqual([name, folds.seeds.length]);
    for (const foldOf of bySeed)
      for (const cell of Map.groupBy(kinds, (kind, i) => `${kind}${foldOf[i]}`).values())
        expect(cell).toHaveLength(kinds.length / 3 / folds.folds);
    expect(new Set(bySeed).size).toBe(bySeed.length);
  }
});

describe.skipIf(!isLong || !existsSync(dataFile))('on the NLBSE’24 issues', () => {
  const repositories = existsSync(dataFile) && isLong ? readRepositories(dataFile) : [];
  const all = repositories.flatMap((repository) => repository.examples);

  test(
    'mean macro-F1 over the repositories and seeds is at least 0.80',
    () => {
      const scores = repositories.flatMap((repository) =>
        [...repository.folds.values()].map((foldOf) =>
          macroF1(crossValidate(repository.examples, foldOf).outcomes, issueTypes),
        ),
      );
      expect(mean(scores)).toBeGreaterThanOrEqual(0.8);
    },
    longMs,
  );

  test('titles find their descriptions among all 1,500 issues with a recall@5 of at least 0.7', () => {
    expect(all).toHaveLength(1500);
    expect(recallAt5(retrieve(all))).toBeGreaterThanOrEqual(0.7);
  });

  test('nine of ten mentioned pairs are duplicates, as judged by hand', () => {
    const pairs = repositories.flatMap(({ name, examples: own }) =>
      mentionedPairs(own).map((pair) => judgedPairs(name).get(pair.join('-'))),
    );
    expect(pairs).not.toContain(undefined);
    expect(pairs.filter((isDuplicate) => isDuplicate === true).length / pairs.length).toBeGreaterThan(0.9);
  });

  test('half of the issues take at most 5 ms of CPU time in the engine of the sandbox', async () => {
    const [repository] = repositories;
    const times = repository ? await cpuTimesOf(repository, repositories) : [];
    expect(times.toSorted((a, b) => a - b)[times.length >> 1]).toBeLessThanOrEqual(5);
  });
});
