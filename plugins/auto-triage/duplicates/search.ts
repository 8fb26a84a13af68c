// Ranks indexed issues by the rare terms that they share with an issue: BM25 without term frequencies, which add
// nothing here, divided by the score of an issue with all terms of the query.
import { collectIssues, segmentIssuesMax, type Segment } from './segment.ts';
import type { Terms } from './terms.ts';

export interface Match {
  readonly id: string;
  /** Share of the query's terms, weighted by rarity, that the issue has; lower for long issues. */
  readonly score: number;
  /** Shared words in the spelling of the query, rarest first. */
  readonly shared: readonly string[];
}

interface QueryTerm {
  readonly code: number;
  readonly word: string;
  /** Weight of the place in which the term occurs, times its rarity. */
  readonly weight: number;
  /** Range of the hits of the term. */
  readonly start: number;
  readonly end: number;
}

/** Weight of a term of the description; 1 for the title. */
const bodyWeight = 0.35;
const bodyTermsMax = 48;
/**
 * A term of the description that is in more than this share of the first issues is skipped, because it costs most and
 * says least.
 */
const commonShare = 0.2;
const commonFrom = segmentIssuesMax;
/** Strength of the length normalisation, and the number of terms of a typical issue. */
const lengthWeight = 0.75;
const saturation = 0.6;
const sizeTypical = 95;
const sharedMax = 5;

/** Returns the most similar issues without `ownId`, best first. */
export function search(segments: readonly Segment[], terms: Terms, count: number, ownId = ''): Match[] {
  const issues = sizeOf(segments);
  const scores = new Float64Array(issues);
  const { query, hits } = lookUp(segments, issues, terms);
  let total = 0;
  for (const { weight, start, end } of query) {
    total += weight;
    for (let i = start; i < end; i++)
      scores[hits[i] as number] = (scores[hits[i] as number] as number) + weight;
  }
  const best = bestOf(segments, scores, count, ownId);
  const words = query.sort((a, b) => b.weight - a.weight);
  return best.map(({ id, issue }) => ({
    id,
    score: Math.min(1, (scores[issue] as number) / (total || 1)),
    shared: sharedWords(words, hits, issue),
  }));
}

/** Returns the rarity of a term among the indexed issues. */
export function rarityOf(segments: readonly Segment[], code: number): number {
  const issues = sizeOf(segments);
  const hits = new Int32Array(issues);
  let end = 0;
  for (const segment of segments) end = collectIssues(segment, code, hits, end, 0);
  return rarity(end, issues);
}

function lookUp(
  segments: readonly Segment[],
  issues: number,
  { title, body }: Terms,
): { query: QueryTerm[]; hits: Int32Array } {
  const query: QueryTerm[] = [];
  const wordsMax = title.size + Math.min(body.size, bodyTermsMax);
  const hits = new Int32Array(wordsMax * issues);
  let end = 0;
  const add = (code: number, word: string, weight: number): void => {
    const start = end;
    let base = 0;
    for (const segment of segments) {
      end = collectIssues(segment, code, hits, end, base);
      base += segment.ids.length;
      if (weight < 1 && base >= commonFrom && end - start > base * commonShare) {
        end = start;
        return;
      }
    }
    query.push({ code, word, weight: weight * rarity(end - start, issues), start, end });
  };
  for (const [code, word] of title) add(code, word, 1);
  let rest = bodyTermsMax;
  for (const [code, word] of body) if (rest-- > 0) add(code, word, bodyWeight);
  return { query, hits };
}

/** Normalises the scores by length, and returns the issues with the best ones. */
function bestOf(
  segments: readonly Segment[],
  scores: Float64Array,
  count: number,
  ownId: string,
): { id: string; issue: number }[] {
  const best: { id: string; issue: number }[] = [];
  let least = 0;
  let base = 0;
  for (const { ids, sizes } of segments) {
    for (let at = 0; at < ids.length; at++) {
      const issue = base + at;
      // No issue gains more than the shortest one.
      if ((scores[issue] as number) * normMax <= least) continue;
      const score = (scores[issue] as number) * lengthNorm(sizes[at] as number);
      scores[issue] = score;
      const id = ids[at] ?? '';
      // An issue can be stored and recent.
      if (score <= least || id === ownId || best.some((other) => other.id === id)) continue;
      best.push({ id, issue });
      best.sort((a, b) => (scores[b.issue] as number) - (scores[a.issue] as number));
      if (best.length <= count) continue;
      best.pop();
      least = scores[best[count - 1]?.issue ?? 0] as number;
    }
    base += ids.length;
  }
  return best;
}

function sharedWords(words: readonly QueryTerm[], hits: Int32Array, issue: number): string[] {
  const shared = new Set<string>();
  for (const { word, start, end } of words) {
    if (shared.size === sharedMax) break;
    for (let i = start; i < end; i++) if (hits[i] === issue) shared.add(word);
  }
  return [...shared];
}

function sizeOf(segments: readonly Segment[]): number {
  let issues = 0;
  for (const { ids } of segments) issues += ids.length;
  return issues;
}

function rarity(holders: number, issues: number): number {
  return Math.log(1 + (issues - holders + 0.5) / (holders + 0.5));
}

/** Returns 1 for a typical issue, more for a short one. */
function lengthNorm(size: number): number {
  return (1 + saturation) / (1 + saturation * (1 - lengthWeight + (lengthWeight * size) / sizeTypical));
}
const normMax = lengthNorm(0);
