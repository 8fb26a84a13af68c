import { describe, expect, test } from 'bun:test';
import { predictByRule, Predictor } from './predict.ts';
import { sampleIssues } from './sample-issues.ts';
import { train, type Example } from './train.ts';
import type { Model } from './model.ts';

function learn(examples: readonly Example[]): Model {
  const steps = train(examples);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Returns the number of right answers in six-fold cross-validation. */
function hits(answer: (train: readonly Example[], example: Example) => string): number {
  const foldOf = (i: number): number => Math.floor(i / 3) % 6;
  return sampleIssues.filter((example, i) => {
    const rest = sampleIssues.filter((_, j) => foldOf(j) !== foldOf(i));
    return answer(rest, example) === example.kind;
  }).length;
}

const odd = [
  '',
  ' ',
  '\n'.repeat(2000),
  '```',
  '<!--',
  '#',
  '# \n# \n',
  '**',
  '\u0000\ud800',
  'a/'.repeat(9000),
  '🐛'.repeat(99),
];

describe('train', () => {
  test('training is deterministic, to the character', () => {
    expect(JSON.stringify(learn(sampleIssues))).toBe(JSON.stringify(learn(sampleIssues)));
  });

  test('a model restored from JSON predicts the same, with probabilities that sum to one', () => {
    const model = learn(sampleIssues);
    const stored = new Predictor(JSON.parse(JSON.stringify(model)));
    const fresh = new Predictor(model);
    for (const issue of sampleIssues) {
      const { probabilities } = stored.predict(issue);
      expect(probabilities).toEqual(fresh.predict(issue).probabilities);
      expect(probabilities[0] + probabilities[1] + probabilities[2]).toBeCloseTo(1, 9);
    }
  });

  test('a model of a team’s own words is far better than the rule', () => {
    const models = new Map<string, Predictor>();
    const learned = hits((rest, example) => {
      const key = rest.map(({ title }) => title).join();
      const predictor = models.get(key) ?? new Predictor(learn(rest));
      models.set(key, predictor);
      return predictor.predict(example).kind;
    });
    const byRule = hits((_, example) => predictByRule(example).kind);
    expect(learned).toBeGreaterThanOrEqual(30);
    expect(byRule).toBeLessThanOrEqual(learned - 6);
  });

  test('only kind, title and description are read', () => {
    const read = new Set<string>();
    const watched = sampleIssues.map(
      (issue) =>
        new Proxy(issue, { get: (target, key) => (read.add(String(key)), Reflect.get(target, key)) }),
    );
    learn(watched);
    expect([...read].sort()).toEqual(['description', 'kind', 'title']);
  });

  test('training proceeds in small declared steps', () => {
    for (const costUs of stepsOf(train(sampleIssues))) expect(costUs).toBeLessThan(40_000);
  });

  test('issues of any text can be used for training and prediction', () => {
    const examples = [
      ...sampleIssues,
      ...odd.map((text): Example => ({ kind: 'bug', title: text, description: text })),
    ];
    const predictor = new Predictor(learn(examples));
    for (const text of odd) {
      const { confidence } = predictor.predict({ title: text, description: text });
      expect(confidence).toBeGreaterThan(0.3);
      expect(confidence).toBeLessThanOrEqual(1);
    }
  });
});

function* stepsOf(steps: Generator<number, unknown>): Generator<number> {
  for (let step = steps.next(); !step.done; step = steps.next()) yield step.value;
}
