/**
 * Turns scores into probabilities: softmax(slope × learned + ruleSlope × rule + bias), fitted by gradient steps on answers
 * to examples that the scores were not learned from. The biases take in how often each kind occurs in this tracker. With
 * few examples everything stays near its starting point.
 */
import type { Scores } from './kind.ts';

export type Calibration = {
  readonly slope: number;
  readonly ruleSlope: number;
  readonly bias: Scores;
};

/** What an issue was given by the learned model and by the rule. */
export type Answers = { readonly learned: Scores; readonly rule: Scores };

const START: Calibration = { slope: 4, ruleSlope: 0.15, bias: [0, 0, 0] };
const STEPS = 150;
/** As if this many further examples had spoken for the starting point. */
const PRIOR_EXAMPLES = 6;

export function probabilitiesOf({ learned, rule }: Answers, { slope, ruleSlope, bias }: Calibration): Scores {
  const a = slope * learned[0] + ruleSlope * rule[0] + bias[0];
  const b = slope * learned[1] + ruleSlope * rule[1] + bias[1];
  const c = slope * learned[2] + ruleSlope * rule[2] + bias[2];
  const top = Math.max(a, b, c);
  const ea = Math.exp(a - top);
  const eb = Math.exp(b - top);
  const ec = Math.exp(c - top);
  const sum = ea + eb + ec;
  return [ea / sum, eb / sum, ec / sum];
}

/** Yields the answers weighed since the last yield. */
export function* calibrate(
  answers: readonly Answers[],
  kinds: readonly number[],
): Generator<number, Calibration> {
  let { slope, ruleSlope } = START;
  const bias: [number, number, number] = [0, 0, 0];
  const n = answers.length;
  for (let step = 0; step < STEPS; step++) {
    let slopeGradient = 0;
    let ruleGradient = 0;
    const biasGradient: [number, number, number] = [0, 0, 0];
    for (const [i, answer] of answers.entries()) {
      const p = probabilitiesOf(answer, { slope, ruleSlope, bias });
      for (const kind of [0, 1, 2] as const) {
        const miss = (kinds[i] === kind ? 1 : 0) - p[kind];
        slopeGradient += miss * answer.learned[kind];
        ruleGradient += miss * answer.rule[kind];
        biasGradient[kind] += miss;
      }
    }
    const rate = 1 / (n + PRIOR_EXAMPLES);
    slope = Math.max(
      0.5,
      slope + (slopeGradient - (PRIOR_EXAMPLES * (slope - START.slope)) / 40) * rate * 20,
    );
    ruleSlope = Math.max(
      0,
      ruleSlope + (ruleGradient - PRIOR_EXAMPLES * 20 * (ruleSlope - START.ruleSlope)) * rate * 0.04,
    );
    for (const kind of [0, 1, 2] as const)
      bias[kind] += (biasGradient[kind] - PRIOR_EXAMPLES * bias[kind]) * rate * 2;
    yield n;
  }
  return {
    slope: round(slope),
    ruleSlope: round(ruleSlope),
    bias: [round(bias[0]), round(bias[1]), round(bias[2])],
  };
}

function round(value: number): number {
  return Number(value.toFixed(4));
}
