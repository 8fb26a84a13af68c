// Trains a model on labelled issues: regularised least squares on the sum of block cosines (stored as hashed weights)
// and the form kernel (stored as rows). Deterministic. A generator, because the sandbox grants CPU time in short
// slices.
import { calibrate } from './calibrate.ts';
import { findCues } from './cues.ts';
import { encodeLevels, frequencyValues, toFrequencyLevel, toSignedLevel } from './codec.ts';
import { parseDocument, type IssueText } from './document.ts';
import { bucketCount, countFeatures, type Block } from './features.ts';
import { distanceSquared, fitForm, kernelOf, readRows } from './form.ts';
import { squaresOf } from './form-rows.ts';
import { issueTypes, type IssueType, type Scores } from './kind.ts';
import { modelVersion, type Model } from './model.ts';
import { solveRidge, type LowerMatrix } from './solve.ts';
import { ruleScores } from './rule.ts';
import { structure } from './structure.ts';
import { documentFrequencies, rarity, toVector, type SparseVector } from './vector.ts';

export type Example = IssueText & { readonly kind: IssueType };

const ridge = 1.6;

/** Yields the approximate cost since the last yield, in microseconds of an interpreter without JIT. */
export function* train(examples: readonly Example[]): Generator<number, Model> {
  const documents: Block[][] = [];
  const forms: Float64Array[] = [];
  const rules: Scores[] = [];
  for (const example of examples) {
    const document = parseDocument(example);
    documents.push(countFeatures(document));
    const hits = findCues(document);
    rules.push(ruleScores(document, hits));
    forms.push(Float64Array.from(structure(document, hits), ({ value }) => value));
    yield 1000 + document.body.length * 2;
  }
  const frequencies = documentFrequencies(documents);
  const frequencyText = encodeLevels(Array.from(frequencies, toFrequencyLevel));
  yield bucketCount / 3;
  const rarities = Float32Array.from(frequencies, (f) =>
    rarity(frequencyValues[Math.round(toFrequencyLevel(f))] ?? 0, examples.length),
  );
  yield bucketCount / 5;
  const vectors: SparseVector[] = [];
  for (const blocks of documents.splice(0)) {
    const vector = toVector(blocks, (bucket) => rarities[bucket] ?? 0);
    vectors.push(vector);
    yield vector.buckets.length / 3;
  }
  const kernel = yield* linearKernel(vectors, frequencies);
  const kinds = examples.map(({ kind }) => issueTypes.indexOf(kind));
  const form = fitForm(forms, kinds);
  yield forms.length * 70;
  const points = readRows(form);
  const squares = squaresOf(form);
  yield forms.length * 40;
  for (let i = 0; i < kernel.length; i++) {
    const row = kernel[i] ?? new Float64Array(0);
    for (let j = 0; j <= i; j++)
      row[j] = (row[j] ?? 0) + kernelOf(distanceSquared(points[i] ?? row, points[j] ?? row));
    yield i * 10;
  }

  const learned = issueTypes.map((_, kind) => kinds.filter((k) => k === kind).length);
  const targets = issueTypes.map((_, kind) =>
    Float64Array.from(kinds, (k) => (k === kind ? 1 : 0) - (learned[kind] ?? 0) / kinds.length),
  );
  const solution = yield* scaled(solveRidge(kernel, targets, ridge), 1 / 20);
  const coefficients = kinds.map((_, i) =>
    triple((kind) => Number((solution.coefficients[kind]?.[i] ?? 0).toPrecision(5))),
  );
  const answers = kinds.map((_, i) => ({
    learned: triple((kind) => solution.leftOut[kind]?.[i] ?? 0),
    rule: rules[i] ?? triple(() => 0),
  }));
  const calibration = yield* scaled(calibrate(answers, kinds), 1 / 2);
  return {
    version: modelVersion,
    learned: triple((kind) => learned[kind] ?? 0),
    frequencies: frequencyText,
    ...(yield* linearWeights(vectors, coefficients)),
    form: { ...form, squares, coefficients },
    calibration,
  };
}

/** Computes the dot products of all pairs by bucket, so that only shared features cost time. */
function* linearKernel(
  vectors: readonly SparseVector[],
  frequencies: Uint16Array,
): Generator<number, LowerMatrix> {
  const starts = new Int32Array(bucketCount + 1);
  for (let bucket = 0; bucket < bucketCount; bucket++)
    starts[bucket + 1] = (starts[bucket] as number) + (frequencies[bucket] as number);
  const owners = new Uint16Array(starts[bucketCount] as number);
  const values = new Float32Array(owners.length);
  const ends = starts.slice(0, bucketCount);
  yield bucketCount / 10;
  for (const [owner, vector] of vectors.entries()) {
    for (let i = 0; i < vector.buckets.length; i++) {
      const bucket = vector.buckets[i] as number;
      const at = ends[bucket] as number;
      ends[bucket] = at + 1;
      owners[at] = owner;
      values[at] = vector.values[i] as number;
    }
    yield vector.buckets.length / 5;
  }
  const kernel: LowerMatrix = vectors.map((_, i) => new Float64Array(i + 1));
  let done = 0;
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    const start = starts[bucket] as number;
    const end = ends[bucket] as number;
    for (let p = start; p < end; p++) {
      const row = kernel[owners[p] as number] as Float64Array;
      const value = values[p] as number;
      // Postings are ordered by owner, so this is always the lower half.
      for (let q = start; q <= p; q++) {
        const owner = owners[q] as number;
        row[owner] = (row[owner] as number) + value * (values[q] as number);
      }
    }
    done += 1 + ((end - start) * (end - start)) / 2;
    if (done < 100_000) continue;
    yield done / 20;
    done = 0;
  }
  yield done / 20;
  return kernel;
}

/** Returns Σ coefficient × vector: the linear part of the kernel, without the examples. */
function* linearWeights(
  vectors: readonly SparseVector[],
  coefficients: readonly Scores[],
): Generator<number, Pick<Model, 'weights' | 'weightMax'>> {
  const sums = [
    new Float64Array(bucketCount),
    new Float64Array(bucketCount),
    new Float64Array(bucketCount),
  ] as const;
  for (const [i, { buckets, values }] of vectors.entries()) {
    const alpha = coefficients[i] ?? [0, 0, 0];
    for (const kind of [0, 1, 2] as const) {
      const sum = sums[kind];
      for (let k = 0; k < buckets.length; k++) {
        const bucket = buckets[k] as number;
        sum[bucket] = (sum[bucket] as number) + alpha[kind] * (values[k] as number);
      }
    }
    yield buckets.length / 3;
  }
  let max = 1e-9;
  for (const sum of sums) for (const value of sum) max = Math.max(max, Math.abs(value));
  yield bucketCount / 5;
  const encoded: string[] = [];
  for (const sum of sums) {
    encoded.push(encodeLevels(sum.map((value) => toSignedLevel(value / max))));
    yield bucketCount / 3;
  }
  return {
    weights: [encoded[0] ?? '', encoded[1] ?? '', encoded[2] ?? ''],
    weightMax: Number(max.toPrecision(5)),
  };
}

function* scaled<T>(steps: Generator<number, T>, factor: number): Generator<number, T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    yield step.value * factor;
  }
}

function triple(of: (kind: number) => number): Scores {
  return [of(0), of(1), of(2)];
}
