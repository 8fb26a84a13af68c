// Predicts the probability of each kind for one issue, with a stored model or with the rule alone.
import { probabilitiesOf, type Answers, type Calibration } from './calibrate.ts';
import { findCues, type CueHit } from './cues.ts';
import { frequencyValues, levelAt, signedValues } from './codec.ts';
import { parseDocument, type Document, type IssueText } from './document.ts';
import { countFeatures } from './features.ts';
import { distanceSquared, kernelOf, readRows, toPoint } from './form.ts';
import { issueTypes, surest, type IssueType, type Scores } from './kind.ts';
import type { Model } from './model.ts';
import { ruleScores } from './rule.ts';
import { structure } from './structure.ts';
import { rarity, toVector, type SparseVector } from './vector.ts';

export type Prediction = {
  readonly kind: IssueType;
  readonly confidence: number;
  readonly probabilities: Scores;
};

/** Chosen so that the rule's confidence matches its accuracy. */
const ruleAlone: Calibration = { slope: 0, ruleSlope: 0.25, bias: [0, 0, 0] };

export function predictByRule(issue: IssueText): Prediction {
  const document = parseDocument(issue);
  return toPrediction({ learned: [0, 0, 0], rule: ruleScores(document, findCues(document)) }, ruleAlone);
}

/**
 * A stored model with precomputed data. Reuse it for several issues, because the constructor decodes all rows
 * of the model.
 */
export class Predictor {
  readonly model: Model;
  readonly #rows: readonly Float64Array[];
  readonly #rarities: Float64Array;

  constructor(model: Model) {
    const [bugs, features, questions] = model.learned;
    this.model = model;
    this.#rows = readRows(model.form);
    this.#rarities = frequencyValues.map((frequency) => rarity(frequency, bugs + features + questions));
  }

  predict(issue: IssueText): Prediction {
    return this.predictDocument(parseDocument(issue));
  }

  predictDocument(document: Document): Prediction {
    const hits = findCues(document);
    const words = this.wordScores(this.vectorOf(document));
    const form = this.formScores(this.distancesOf(this.pointOf(document, hits)));
    const learned: Scores = [words[0] + form[0], words[1] + form[1], words[2] + form[2]];
    return toPrediction({ learned, rule: ruleScores(document, hits) }, this.model.calibration);
  }

  vectorOf(document: Document): SparseVector {
    const { frequencies } = this.model;
    return toVector(countFeatures(document), (bucket) => this.#rarities[levelAt(frequencies, bucket)] ?? 0);
  }

  pointOf(document: Document, hits: readonly CueHit[]): Float64Array {
    return toPoint(
      structure(document, hits).map(({ value }) => value),
      this.model.form.scales,
    );
  }

  /** Returns the contribution of one unit of a bucket to the score of a kind. */
  weightOf(kind: 0 | 1 | 2, bucket: number): number {
    return (signedValues[levelAt(this.model.weights[kind], bucket)] as number) * this.model.weightMax;
  }

  wordScores({ buckets, values }: SparseVector): Scores {
    const sums: [number, number, number] = [0, 0, 0];
    for (let i = 0; i < buckets.length; i++) {
      const bucket = buckets[i] as number;
      const value = values[i] as number;
      sums[0] += this.weightOf(0, bucket) * value;
      sums[1] += this.weightOf(1, bucket) * value;
      sums[2] += this.weightOf(2, bucket) * value;
    }
    return sums;
  }

  /** Returns the squared distance to each training issue. */
  distancesOf(point: Float64Array): Float64Array {
    return Float64Array.from(this.#rows, (row) => distanceSquared(point, row));
  }

  /** Returns the part of one column in {@link distancesOf}. */
  columnDistances(value: number, column: number): Float64Array {
    return Float64Array.from(this.#rows, (row) => (value - (row[column] ?? 0)) ** 2);
  }

  formScores(distances: Float64Array): Scores {
    const sums: [number, number, number] = [0, 0, 0];
    for (const [i, coefficients] of this.model.form.coefficients.entries()) {
      const similarity = kernelOf(distances[i] ?? 0);
      for (const kind of [0, 1, 2] as const) sums[kind] += coefficients[kind] * similarity;
    }
    return sums;
  }
}

function toPrediction(answers: Answers, calibration: Calibration): Prediction {
  const probabilities = probabilitiesOf(answers, calibration);
  const best = surest(probabilities);
  return { kind: issueTypes[best], confidence: probabilities[best], probabilities };
}
