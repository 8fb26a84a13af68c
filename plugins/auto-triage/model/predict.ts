// Predicts the probability of each kind for one issue, with a stored model or with the rule alone.
import { probabilitiesOf, type Answers, type Calibration } from './calibrate.ts';
import { findCues } from './cues.ts';
import { byCode, frequencyValues, signedValues } from './codec.ts';
import { parseDocument, type Document, type IssueText } from './document.ts';
import { countFeatures, type Block } from './features.ts';
import { toPoint } from './form.ts';
import { FormRows } from './form-rows.ts';
import { issueTypes, surest, type IssueType, type Scores } from './kind.ts';
import type { Model } from './model.ts';
import { ruleScores } from './rule.ts';
import { structure, type Measured } from './structure.ts';
import { rarity, scaleOf, valueOf } from './vector.ts';

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

/** Weight by character of the weights. */
const weights = byCode(signedValues);

/** A prediction with the measurements that explain it. */
export interface Examined {
  readonly prediction: Prediction;
  readonly document: Document;
  readonly blocks: readonly Block[];
  /** Factor of each block that gives its vector unit length, times its weight. */
  readonly scales: readonly number[];
  readonly measures: readonly Measured[];
  readonly point: Float64Array;
  readonly similarities: Float64Array;
  readonly formScores: Scores;
}

/** A stored model with decoded parts. Reuse it for several issues. */
export class Predictor {
  readonly model: Model;
  readonly form: FormRows;
  /** Rarity by character of the frequencies. */
  readonly #rarities: Float64Array;

  constructor(model: Model) {
    const [bugs, features, questions] = model.learned;
    this.model = model;
    this.form = new FormRows(model.form);
    this.#rarities = byCode(
      frequencyValues.map((frequency) => rarity(frequency, bugs + features + questions)),
    );
  }

  predict(issue: IssueText): Prediction {
    return this.examine(issue).prediction;
  }

  examine(issue: IssueText): Examined {
    const document = parseDocument(issue);
    const hits = findCues(document);
    const blocks = countFeatures(document, true);
    const { scores: words, scales } = this.#wordScores(blocks);
    const measures = structure(document, hits);
    const point = toPoint(
      measures.map(({ value }) => value),
      this.model.form.scales,
    );
    const similarities = this.form.similarities(point);
    const formScores = this.form.scores(similarities);
    const learned: Scores = [words[0] + formScores[0], words[1] + formScores[1], words[2] + formScores[2]];
    const prediction = toPrediction({ learned, rule: ruleScores(document, hits) }, this.model.calibration);
    return { prediction, document, blocks, scales, measures, point, similarities, formScores };
  }

  rarityOf(bucket: number): number {
    return this.#rarities[this.model.frequencies.charCodeAt(bucket)] as number;
  }

  /** Returns the contribution of one unit of a bucket to the score of a kind. */
  weightOf(kind: 0 | 1 | 2, bucket: number): number {
    return (weights[this.model.weights[kind].charCodeAt(bucket)] as number) * this.model.weightMax;
  }

  /** Computes the dot products of the vector that `vector.ts` builds in training with the weights of each kind. */
  #wordScores(blocks: readonly Block[]): { scores: Scores; scales: number[] } {
    const { frequencies, weightMax } = this.model;
    const [a, b, c] = this.model.weights;
    const rarities = this.#rarities;
    const total: [number, number, number] = [0, 0, 0];
    const scales = blocks.map(({ name, buckets, counts }) => {
      let sumA = 0;
      let sumB = 0;
      let sumC = 0;
      let squares = 0;
      for (let i = 0; i < buckets.length; i++) {
        const bucket = buckets[i] as number;
        const rarity = rarities[frequencies.charCodeAt(bucket)] as number;
        if (rarity === 0) continue;
        const count = counts[i] as number;
        const value = count === 1 ? rarity : valueOf(count, rarity);
        squares += value * value;
        sumA += (weights[a.charCodeAt(bucket)] as number) * value;
        sumB += (weights[b.charCodeAt(bucket)] as number) * value;
        sumC += (weights[c.charCodeAt(bucket)] as number) * value;
      }
      const scale = scaleOf(name, squares);
      total[0] += sumA * scale * weightMax;
      total[1] += sumB * scale * weightMax;
      total[2] += sumC * scale * weightMax;
      return scale;
    });
    return { scores: total, scales };
  }
}

function toPrediction(answers: Answers, calibration: Calibration): Prediction {
  const probabilities = probabilitiesOf(answers, calibration);
  const best = surest(probabilities);
  return { kind: issueTypes[best], confidence: probabilities[best], probabilities };
}
