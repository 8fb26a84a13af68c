// A learned model as it is stored: plain JSON, its large arrays as text of `codec.ts`.
import type { Calibration } from './calibrate.ts';
import type { Scores } from './kind.ts';

/** Raised whenever features or layout change, because buckets then mean something else; other versions are not read. */
export const modelVersion = 1;

export type Model = {
  readonly version: typeof modelVersion;
  /** How many issues of each kind it learned from. */
  readonly learned: Scores;
  /** Document frequency by bucket. */
  readonly frequencies: string;
  /** Weight by bucket, one text per kind, in units of `weightMax`. */
  readonly weights: readonly [string, string, string];
  readonly weightMax: number;
  readonly form: FormModel;
  readonly calibration: Calibration;
};

/** The kernel over the form of issues: one row per learned issue. */
export type FormModel = {
  /** Multiplies each column, so that the squared distance of two typical issues is 1. */
  readonly scales: readonly number[];
  /** Largest value per column; rows are levels of it. */
  readonly maxima: readonly number[];
  readonly rows: readonly string[];
  readonly coefficients: readonly Scores[];
};

/** @returns undefined for anything but a model of this version. */
export function asModel(stored: unknown): Model | undefined {
  const isModel =
    typeof stored === 'object' && stored !== null && 'version' in stored && stored.version === modelVersion;
  return isModel ? (stored as Model) : undefined;
}
