/**
 * Turns scores into probabilities: softmax(slope × score + bias), fitted by gradient steps on answers to examples that
 * the scores were not learned from. The biases take in how often each kind occurs in this tracker.
 */
import type { Calibration } from './model.ts';
import type { Scores } from './kind.ts';

const STEPS = 200;
/** As if this many further examples had spoken for equal biases. */
const BIAS_PRIOR = 5;

export function softmax(scores: Scores, { slope, bias }: Calibration): Scores {
  const z = [slope * scores[0] + bias[0], slope * scores[1] + bias[1], slope * scores[2] + bias[2]] as const;
  const top = Math.max(z[0], z[1], z[2]);
  const e = [Math.exp(z[0] - top), Math.exp(z[1] - top), Math.exp(z[2] - top)] as const;
  const sum = e[0] + e[1] + e[2];
  return [e[0] / sum, e[1] / sum, e[2] / sum];
}

/** Yields the softmaxes computed since the last yield. */
export function* calibrate(
  scores: readonly Scores[],
  kinds: readonly number[],
): Generator<number, Calibration> {
  let slope = 4;
  const bias: [number, number, number] = [0, 0, 0];
  const n = scores.length;
  for (let step = 0; step < STEPS; step++) {
    let slopeGradient = 0;
    const biasGradient: [number, number, number] = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      const score = scores[i] ?? [0, 0, 0];
      const p = softmax(score, { slope, bias });
      for (const kind of [0, 1, 2] as const) {
        const miss = (kinds[i] === kind ? 1 : 0) - p[kind];
        slopeGradient += miss * score[kind];
        biasGradient[kind] += miss;
      }
    }
    slope = Math.max(0.5, slope + (slopeGradient / n) * 20);
    for (const kind of [0, 1, 2] as const)
      bias[kind] += ((biasGradient[kind] - BIAS_PRIOR * bias[kind]) / (n + BIAS_PRIOR)) * 2;
    yield n;
  }
  return { slope: round(slope), bias: [round(bias[0]), round(bias[1]), round(bias[2])] };
}

function round(value: number): number {
  return Number(value.toFixed(4));
}
