import { expect, test } from 'bun:test';
import { calibrate, probabilitiesOf, type Answers, type Calibration } from './calibrate.ts';

function fit(answers: readonly Answers[], kinds: readonly number[]): Calibration {
  const steps = calibrate(answers, kinds);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const silent: Answers = { learned: [0, 0, 0], rule: [0, 0, 0] };

test('with uninformative scores the probabilities are the frequencies of the kinds', () => {
  const kinds = Array.from({ length: 200 }, (_, i) => (i % 10 < 7 ? 0 : i % 10 < 9 ? 1 : 2));
  const [bug, feature, question] = probabilitiesOf(
    silent,
    fit(
      kinds.map(() => silent),
      kinds,
    ),
  );
  expect(bug).toBeCloseTo(0.7, 1);
  expect(feature).toBeCloseTo(0.2, 1);
  expect(question).toBeCloseTo(0.1, 1);
});

test('scores that are right three times in four give a confidence of three quarters', () => {
  const kinds = Array.from({ length: 300 }, (_, i) => i % 3);
  const answers = kinds.map((kind, i): Answers => {
    const predicted = i % 12 < 9 ? kind : (kind + 1) % 3;
    return {
      learned: [predicted === 0 ? 1 : 0, predicted === 1 ? 1 : 0, predicted === 2 ? 1 : 0],
      rule: [0, 0, 0],
    };
  });
  const calibration = fit(answers, kinds);
  expect(probabilitiesOf({ learned: [1, 0, 0], rule: [0, 0, 0] }, calibration)[0]).toBeCloseTo(0.75, 1);
});

test('without examples the rule alone decides', () => {
  const [bug, feature] = probabilitiesOf({ learned: [0, 0, 0], rule: [3, -1, -2] }, fit([], []));
  expect(bug).toBeGreaterThan(0.4);
  expect(bug).toBeGreaterThan(feature);
});
