// Converts scores to probabilities: softmax(slope × learned + ruleSlope × rule + bias), fitted by damped Newton steps
// on leave-one-out scores. The biases capture how often each kind occurs in this tracker. With few examples all
// parameters stay near their initial values.
import type { Scores } from './kind.ts';

export type Calibration = {
  readonly slope: number;
  readonly ruleSlope: number;
  readonly bias: Scores;
};

/** Scores of an issue from the learned model and from the rule. */
export type Answers = { readonly learned: Scores; readonly rule: Scores };

const startAt: Calibration = { slope: 4, ruleSlope: 0.15, bias: [0, 0, 0] };
/** Strength of the prior on each initial value, in units of Fisher information. */
const prior = { slope: 0.15, ruleSlope: 120, bias: 6 };
const stepsMax = 60;
/** Damping of the separate Newton steps: below 2 / 5 converges for five dependent parameters. */
const damping = 0.35;

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

/** Yields the number of answers processed since the last yield. */
export function* calibrate(
  answers: readonly Answers[],
  kinds: readonly number[],
): Generator<number, Calibration> {
  let { slope, ruleSlope } = startAt;
  const bias: [number, number, number] = [0, 0, 0];
  const n = answers.length;
  for (let step = 0; step < stepsMax; step++) {
    const slopeStep = { pull: prior.slope * (startAt.slope - slope), information: prior.slope };
    const ruleStep = {
      pull: prior.ruleSlope * (startAt.ruleSlope - ruleSlope),
      information: prior.ruleSlope,
    };
    const biasSteps = bias.map((value) => ({ pull: -prior.bias * value, information: prior.bias }));
    for (let i = 0; i < n; i++) {
      const answer = answers[i] as Answers;
      const p = probabilitiesOf(answer, { slope, ruleSlope, bias });
      const kind = kinds[i] as number;
      addSlope(slopeStep, answer.learned, p, kind);
      addSlope(ruleStep, answer.rule, p, kind);
      for (const [k, biasStep] of biasSteps.entries()) {
        const share = p[k] as number;
        biasStep.pull += (k === kind ? 1 : 0) - share;
        biasStep.information += share * (1 - share);
      }
    }
    slope = Math.max(0, slope + take(slopeStep));
    ruleSlope = Math.max(0, ruleSlope + take(ruleStep));
    for (const [k, biasStep] of biasSteps.entries()) bias[k] = (bias[k] ?? 0) + take(biasStep);
    yield n;
  }
  return {
    slope: round(slope),
    ruleSlope: round(ruleSlope),
    bias: [round(bias[0]), round(bias[1]), round(bias[2])],
  };
}

type Step = { pull: number; information: number };

/** Adds gradient and information of one example for the factor of `scores`. */
function addSlope(step: Step, scores: Scores, p: Scores, kind: number): void {
  const mean = p[0] * scores[0] + p[1] * scores[1] + p[2] * scores[2];
  const square = p[0] * scores[0] ** 2 + p[1] * scores[1] ** 2 + p[2] * scores[2] ** 2;
  step.pull += (scores[kind] as number) - mean;
  step.information += square - mean * mean;
}

function take({ pull, information }: Step): number {
  return (damping * pull) / information;
}

function round(value: number): number {
  return Number(value.toFixed(4));
}
