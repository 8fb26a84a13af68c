// Stored form of a learned model: plain JSON, with large arrays as text of `codec.ts`.
import type { Calibration } from './calibrate.ts';
import type { Scores } from './kind.ts';

/**
 * Raised whenever features or layout change, because buckets then have another meaning. Models of other versions are
 * ignored.
 */
export const modelVersion = 2;

export type Model = {
  readonly version: typeof modelVersion;
  /** Number of training issues of each kind. */
  readonly learned: Scores;
  /** Document frequency by bucket. */
  readonly frequencies: string;
  /** Weight by bucket, one text per kind, in units of `weightMax`. */
  readonly weights: readonly [string, string, string];
  readonly weightMax: number;
  readonly form: FormModel;
  readonly calibration: Calibration;
};

/** Kernel over the form of issues, with one row per training issue. */
export type FormModel = {
  /** Factor of each column, such that the squared distance of two typical issues is 1. */
  readonly scales: readonly number[];
  /** Largest value of each column; rows are levels relative to it. */
  readonly maxima: readonly number[];
  readonly rows: readonly string[];
  /** Squared length of each row; computed from the rows if absent. */
  readonly squares?: readonly number[];
  readonly coefficients: readonly Scores[];
};

/** @returns undefined unless `stored` is a model of this version */
export function asModel(stored: unknown): Model | undefined {
  const isModel =
    typeof stored === 'object' && stored !== null && 'version' in stored && stored.version === modelVersion;
  return isModel ? (stored as Model) : undefined;
}
