/**
 * Measures the search of duplicates on the NLBSE'24 issues: every issue is searched by its title in an index of all
 * descriptions, without titles. Recall@5 is the share of issues whose own description is among the five best.
 */
import { similarity, similarityMin } from '../../plugins/auto-triage/duplicates/duplicates.ts';
import { search } from '../../plugins/auto-triage/duplicates/search.ts';
import {
  buildSegment,
  segmentIssuesMax,
  type Segment,
} from '../../plugins/auto-triage/duplicates/segment.ts';
import { codesOf, termsOf } from '../../plugins/auto-triage/duplicates/terms.ts';
import type { IssueText } from '../../plugins/auto-triage/model/document.ts';
import judged from './judged-pairs.json';

interface Retrieved {
  /** Rank of the issue's own description, from 0; -1 beyond the fifth. */
  readonly rank: number;
  /** Score of the first result. */
  readonly score: number;
}

/** Returns the segments of an index in which an issue's id is its position. */
export function indexOf(issues: readonly IssueText[]): Segment[] {
  const entries = issues.map((issue, at) => ({ id: String(at), codes: codesOf(termsOf(issue)) }));
  const segments: Segment[] = [];
  for (let start = 0; start < entries.length; start += segmentIssuesMax)
    segments.push(buildSegment(entries.slice(start, start + segmentIssuesMax)));
  return segments;
}

export function retrieve(issues: readonly IssueText[]): Retrieved[] {
  const index = indexOf(issues.map(({ description }) => ({ title: '', description })));
  return issues.map(({ title }, at) => {
    const matches = search(index, termsOf({ title, description: '' }), 5);
    return { rank: matches.findIndex(({ id }) => id === String(at)), score: matches[0]?.score ?? 0 };
  });
}

export function recallAt5(retrieved: readonly Retrieved[]): number {
  return retrieved.filter(({ rank }) => rank >= 0).length / (retrieved.length || 1);
}

/** Returns the pairs of issues that the plugin would mention as likely duplicates, by position; each pair once. */
export function mentionedPairs(issues: readonly IssueText[]): [number, number][] {
  const index = indexOf(issues);
  const pairs = new Map<string, [number, number]>();
  for (const [at, issue] of issues.entries()) {
    const terms = termsOf(issue);
    for (const match of search(index, terms, 5, String(at))) {
      const other = Number(match.id);
      if (similarity(index, terms, match, issues[other]?.title ?? '') < similarityMin) continue;
      const pair: [number, number] = [Math.min(at, other), Math.max(at, other)];
      pairs.set(pair.join(), pair);
    }
  }
  return [...pairs.values()];
}

/** Returns the judgement of each pair of `judged-pairs.json`: true for issues that report the same. */
export function judgedPairs(repository: string): Map<string, boolean> {
  const own = Object.entries(judged).find(([name]) => name === repository)?.[1];
  const pairsOf = (text: string | undefined): string[] =>
    text?.split(' ').filter((pair) => pair !== '') ?? [];
  return new Map([
    ...pairsOf(own?.duplicates).map((pair) => [pair, true] as const),
    ...pairsOf(own?.others).map((pair) => [pair, false] as const),
  ]);
}
