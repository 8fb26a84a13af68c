/** Stratified k-fold cross-validation with seeded folds: every issue is classified once per seed by a model not trained on it. */
import { Predictor } from '../../plugins/auto-triage/model/predict.ts';
import { issueTypes, type IssueType } from '../../plugins/auto-triage/model/kind.ts';
import { train, type Example } from '../../plugins/auto-triage/model/train.ts';

export type Outcome = { readonly kind: IssueType; readonly answer: IssueType; readonly confidence: number };

export type Run = {
  readonly outcomes: readonly Outcome[];
  readonly trainMs: readonly number[];
  readonly predictMs: readonly number[];
  /** Size of the largest model of all folds, in bytes of JSON. */
  readonly modelBytes: number;
};

export function crossValidate(examples: readonly Example[], folds: number, seed: number): Run {
  const foldOf = stratify(examples, folds, seed);
  const outcomes: Outcome[] = [];
  const trainMs: number[] = [];
  const predictMs: number[] = [];
  let modelBytes = 0;
  for (let fold = 0; fold < folds; fold++) {
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

/**
 * Assigns a fold to each example: shuffles the examples of every kind and distributes them over the folds in
 * turn.
 */
function stratify(examples: readonly Example[], folds: number, seed: number): number[] {
  const random = mulberry32(seed);
  const foldOf = examples.map(() => 0);
  for (const kind of issueTypes) {
    const members = examples.flatMap((example, i) => (example.kind === kind ? [i] : []));
    for (let i = members.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [members[i], members[j]] = [members[j] ?? 0, members[i] ?? 0];
    }
    members.forEach((member, rank) => (foldOf[member] = rank % folds));
  }
  return foldOf;
}

function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
