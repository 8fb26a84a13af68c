/** Answers for one issue: the probability of each kind by a stored model. Keeps what it needs of a model ready between issues. */
import { softmax } from './calibrate.ts';
import { FREQUENCY_VALUES, levelAt, SIGNED_VALUES } from './codec.ts';
import { parseDocument, type Document, type IssueText } from './document.ts';
import { countFeatures } from './features.ts';
import { distanceSquared, kernelOf, readRows, toPoint } from './form.ts';
import { KINDS, surest, type Kind, type Scores } from './kind.ts';
import type { Model } from './model.ts';
import { structure } from './structure.ts';
import { rarity, toVector, type SparseVector } from './vector.ts';

export type Prediction = { readonly kind: Kind; readonly confidence: number; readonly probabilities: Scores };

export class Predictor {
  readonly model: Model;
  readonly #rows: readonly Float64Array[];
  readonly #rarities: Float64Array;

  constructor(model: Model) {
    const documents = model.learned[0] + model.learned[1] + model.learned[2];
    this.model = model;
    this.#rows = readRows(model.form);
    this.#rarities = FREQUENCY_VALUES.map((frequency) => rarity(frequency, documents));
  }

  predict(issue: IssueText): Prediction {
    const document = parseDocument(issue);
    const linear = this.linearScores(this.vectorOf(document));
    const form = this.formScores(
      toPoint(
        structure(document).map(({ value }) => value),
        this.model.form.scales,
      ),
    );
    const scores: Scores = [linear[0] + form[0], linear[1] + form[1], linear[2] + form[2]];
    const probabilities = softmax(scores, this.model.calibration);
    const best = surest(probabilities);
    return { kind: KINDS[best], confidence: probabilities[best], probabilities };
  }

  vectorOf(document: Document): SparseVector {
    const { frequencies } = this.model;
    return toVector(countFeatures(document), (bucket) => this.#rarities[levelAt(frequencies, bucket)] ?? 0);
  }

  /** What bucket and value add to the score of a kind. */
  weightOf(kind: 0 | 1 | 2, bucket: number): number {
    return (SIGNED_VALUES[levelAt(this.model.weights[kind], bucket)] ?? 0) * this.model.weightMax;
  }

  linearScores({ buckets, values }: SparseVector): Scores {
    const sums: [number, number, number] = [0, 0, 0];
    for (let i = 0; i < buckets.length; i++) {
      const bucket = buckets[i] ?? 0;
      const value = values[i] ?? 0;
      sums[0] += this.weightOf(0, bucket) * value;
      sums[1] += this.weightOf(1, bucket) * value;
      sums[2] += this.weightOf(2, bucket) * value;
    }
    return sums;
  }

  formScores(point: Float64Array): Scores {
    const sums: [number, number, number] = [0, 0, 0];
    for (const [i, row] of this.#rows.entries()) {
      const similarity = kernelOf(distanceSquared(point, row));
      const coefficients = this.model.form.coefficients[i] ?? [0, 0, 0];
      for (const kind of [0, 1, 2] as const) sums[kind] += coefficients[kind] * similarity;
    }
    return sums;
  }
}
