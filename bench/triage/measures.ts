/** Metrics of a classifier: macro-F1, accuracy of the most confident share, expected calibration error. */
import type { Outcome } from './cross-validate.ts';

/** Returns the mean over the kinds of F1 = 2 · true positives / (actual + answered). */
export function macroF1(outcomes: readonly Outcome[], kinds: readonly string[]): number {
  let sum = 0;
  for (const kind of kinds) {
    const actual = outcomes.filter((o) => o.kind === kind).length;
    const answered = outcomes.filter((o) => o.answer === kind).length;
    const hits = outcomes.filter((o) => o.kind === kind && o.answer === kind).length;
    sum += actual + answered === 0 ? 0 : (2 * hits) / (actual + answered);
  }
  return sum / kinds.length;
}

/**
 * Returns the accuracy of the most confident answers, limited to the given share of all answers, and the lowest
 * confidence among them.
 */
export function accuracyOfSurest(
  outcomes: readonly Outcome[],
  share: number,
): { accuracy: number; from: number } {
  const surest = outcomes
    .toSorted((a, b) => b.confidence - a.confidence)
    .slice(0, Math.round(outcomes.length * share));
  const hits = surest.filter((o) => o.kind === o.answer).length;
  return { accuracy: hits / (surest.length || 1), from: surest.at(-1)?.confidence ?? 0 };
}

/** Returns the share of issues labelled at a threshold, and the accuracy of those labels. */
export function atThreshold(
  outcomes: readonly Outcome[],
  threshold: number,
): { labelled: number; accuracy: number } {
  const labelled = outcomes.filter((o) => o.confidence >= threshold);
  const hits = labelled.filter((o) => o.kind === o.answer).length;
  return { labelled: labelled.length / (outcomes.length || 1), accuracy: hits / (labelled.length || 1) };
}

/** Returns the mean difference between confidence and accuracy over ten bins of confidence. */
export function calibrationError(outcomes: readonly Outcome[]): number {
  let error = 0;
  for (let bin = 0; bin < 10; bin++) {
    const inside = outcomes.filter((o) => Math.min(9, Math.floor(o.confidence * 10)) === bin);
    const hits = inside.filter((o) => o.kind === o.answer).length;
    const confidence = inside.reduce((sum, o) => sum + o.confidence, 0);
    error += Math.abs(hits - confidence);
  }
  return error / (outcomes.length || 1);
}

export function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, n) => sum + n, 0) / (numbers.length || 1);
}

export function spread(numbers: readonly number[]): { median: number; p99: number; max: number } {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2));
  return { median: at(0.5), p99: at(0.99), max: at(1) };
}
