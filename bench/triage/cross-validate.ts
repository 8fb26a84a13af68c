/** Cross-validation with given folds: every issue is classified once by a model not trained on it. */
import { Predictor } from '../../plugins/auto-triage/model/predict.ts';
import type { IssueType } from '../../plugins/auto-triage/model/kind.ts';
import { train, type Example } from '../../plugins/auto-triage/model/train.ts';

export type Outcome = { readonly kind: IssueType; readonly answer: IssueType; readonly confidence: number };

export type Run = {
  readonly outcomes: readonly Outcome[];
  readonly trainMs: readonly number[];
  readonly predictMs: readonly number[];
  /** Size of the largest model of all folds, in bytes of JSON. */
  readonly modelBytes: number;
};

/** @param foldOf fold of each example */
export function crossValidate(examples: readonly Example[], foldOf: readonly number[]): Run {
  const outcomes: Outcome[] = [];
  const trainMs: number[] = [];
  const predictMs: number[] = [];
  let modelBytes = 0;
  for (const fold of new Set(foldOf)) {
    const started = performance.now();
    const stored = JSON.stringify(finish(train(examples.filter((_, i) => foldOf[i] !== fold))));
    trainMs.push(performance.now() - started);
    modelBytes = Math.max(modelBytes, stored.length);
    const predictor = new Predictor(JSON.parse(stored));
    for (const example of examples.filter((_, i) => foldOf[i] === fold)) {
      const askedAtMs = performance.now();
      const { kind, confidence } = predictor.predict(example);
      predictMs.push(performance.now() - askedAtMs);
      outcomes.push({ kind: example.kind, answer: kind, confidence });
    }
  }
  return { outcomes, trainMs, predictMs, modelBytes };
}

export function finish<T>(steps: Generator<number, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
