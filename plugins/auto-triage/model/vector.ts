// Builds one sparse vector per document: every block is weighted by rarity, normalised to unit length and scaled by
// its block weight.
import type { Block, BlockName } from './features.ts';
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

/** Returns the value of a feature that occurs `count` times, before its block is scaled. */
export function valueOf(count: number, rarity: number): number {
  return count === 1 ? rarity : (1 + Math.log(count)) * rarity;
}

/** Returns the factor that gives a block unit length, times the block's weight. */
export function scaleOf(name: BlockName, squares: number): number {
  return Math.sqrt(blockWeights[name] / (squares || 1));
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
      const value = valueOf(block.counts[i] as number, rarity);
      buckets[at] = bucket;
      values[at++] = value;
      squares += value * value;
    }
    const scale = scaleOf(block.name, squares);
    for (let i = start; i < at; i++) values[i] = (values[i] as number) * scale;
  }
  return { buckets: buckets.subarray(0, at), values: values.subarray(0, at) };
}
