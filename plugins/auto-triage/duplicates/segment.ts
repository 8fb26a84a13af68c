// A segment indexes up to 92 issues: per bucket of terms the postings, of two printable characters each (fingerprint
// of the term, number of the issue). The text is searched in place, so loading a stored segment costs one split.
import { encodeLevels, levelAt } from '../model/codec.ts';
import { bucketCount, fingerprintCount } from './terms.ts';

/** An issue number is one character. */
export const segmentIssuesMax = 92;

/** An issue as it is indexed; `codes` are those of its terms. */
export interface Entry {
  readonly id: string;
  readonly codes: readonly number[];
}

export interface Segment {
  readonly ids: string[];
  /** Number of distinct terms of each issue. */
  readonly sizes: number[];
  /** Postings by bucket. */
  readonly buckets: string[];
}

interface StoredSegment {
  readonly ids: string;
  readonly sizes: readonly number[];
  /** Buckets, separated by a space, which is not a character of postings. */
  readonly postings: string;
}

export function buildSegment(entries: readonly Entry[]): Segment {
  const segment: Segment = { ids: [], sizes: [], buckets: new Array<string>(bucketCount).fill('') };
  for (const entry of entries) addEntry(segment, entry);
  return segment;
}

export function addEntry({ ids, sizes, buckets }: Segment, { id, codes }: Entry): void {
  const issue = levelText[ids.length] ?? '';
  for (const code of codes) {
    const bucket = code % bucketCount;
    buckets[bucket] = (buckets[bucket] ?? '') + (levelText[fingerprintOf(code)] ?? '') + issue;
  }
  ids.push(id);
  sizes.push(codes.length);
}

/** Writes the numbers of the issues that have the term, plus `base`, from `at` on. @returns the end of the numbers */
export function collectIssues(
  { buckets }: Segment,
  code: number,
  into: Int32Array,
  at: number,
  base: number,
): number {
  const postings = buckets[code % bucketCount] ?? '';
  const fingerprint = levelCodes[fingerprintOf(code)];
  let end = at;
  for (let i = 0; i < postings.length; i += 2)
    if (postings.charCodeAt(i) === fingerprint) into[end++] = base + levelAt(postings, i + 1);
  return end;
}

export function encodeSegment({ ids, sizes, buckets }: Segment): StoredSegment {
  return { ids: ids.join(' '), sizes, postings: buckets.join(' ') };
}

/** @returns undefined unless `stored` is a segment */
export function decodeSegment(stored: unknown): Segment | undefined {
  if (typeof stored !== 'object' || stored === null || !('postings' in stored)) return undefined;
  const { ids, sizes, postings } = stored as StoredSegment;
  const buckets = postings.split(' ');
  if (buckets.length !== bucketCount) return undefined;
  return { ids: ids === '' ? [] : ids.split(' '), sizes: [...sizes], buckets };
}

function fingerprintOf(code: number): number {
  return Math.floor(code / bucketCount) % fingerprintCount;
}

const levelCodes = Array.from({ length: fingerprintCount }, (_, level) =>
  encodeLevels([level]).charCodeAt(0),
);
const levelText = Array.from({ length: fingerprintCount }, (_, level) => encodeLevels([level]));
