// Builds one sparse vector per document: every block is weighted by rarity, normalised to unit length and scaled by
// its block weight.
import type { Block } from './features.ts';
import { blockWeights, bucketCount } from './features.ts';

/** A bucket may occur twice if features of two blocks share it. */
export type SparseVector = { readonly buckets: Int32Array; readonly values: Float32Array };

/** Returns the number of documents that contain each bucket. */
export function documentFrequencies(documents: readonly (readonly Block[])[]): Uint16Array {
  const seen = new Uint16Array(bucketCount);
  for (const blocks of documents)
    for (const { buckets } of blocks) for (const bucket of buckets) seen[bucket] = (seen[bucket] ?? 0) + 1;
  return seen;
}

/** Features in more than this share of documents are uninformative, and the most expensive. */
const commonShare = 0.5;

/** Returns the smoothed inverse document frequency of a bucket; 0 for a common one. */
export function rarity(frequency: number, documents: number): number {
  if (frequency > documents * commonShare) return 0;
  return Math.log((documents + 1) / (frequency + 1)) + 1;
}

export function toVector(blocks: readonly Block[], rarityOf: (bucket: number) => number): SparseVector {
  const size = blocks.reduce((sum, block) => sum + block.buckets.length, 0);
  const buckets = new Int32Array(size);
  const values = new Float32Array(size);
  let at = 0;
  for (const block of blocks) {
    const start = at;
    let squares = 0;
    for (let i = 0; i < block.buckets.length; i++) {
      const bucket = block.buckets[i] as number;
      const rarity = rarityOf(bucket);
      if (rarity === 0) continue;
      const value = (1 + Math.log(block.counts[i] as number)) * rarity;
      buckets[at] = bucket;
      values[at++] = value;
      squares += value * value;
    }
    const scale = Math.sqrt(blockWeights[block.name] / (squares || 1));
    for (let i = start; i < at; i++) values[i] = (values[i] as number) * scale;
  }
  return { buckets: buckets.subarray(0, at), values: values.subarray(0, at) };
}
