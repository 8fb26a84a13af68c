// Finds likely duplicates of a new issue among the issues of its team, and adds the issue to the index.
import type { Issue } from '@tatami/sdk/plugin';
import type { TriageContext } from '../context.ts';
import { recallNewest } from './fill.ts';
import { rarityOf, search, type Match } from './search.ts';
import type { Segment } from './segment.ts';
import { readIndex } from './store.ts';
import { codesOf, termsOf, type Terms } from './terms.ts';

export interface Duplicate {
  readonly identifier: string;
  readonly title: string;
  /** Similarity of texts and titles, 0 to 1. */
  readonly score: number;
  readonly shared: readonly string[];
}

const nearestCount = 5;
const shownMax = 3;
/** Similarity from which an issue is mentioned; bench/triage measures how many of these are duplicates. */
export const similarityMin = 0.7;

/** @param teams number of teams, which share the space of the index */
export async function findDuplicates(ctx: TriageContext, issue: Issue, teams: number): Promise<Duplicate[]> {
  const terms = termsOf(issue);
  const index = await readIndex(ctx.kv, issue.team.key, teams);
  if (index.isForgetful) await recallNewest(ctx, index, issue.team.key);
  const { segments } = index;
  const near = search(segments, terms, nearestCount, issue.id).filter(
    ({ score }) => score >= similarityMin ** 2,
  );
  index.addRecent({ id: issue.id, codes: codesOf(terms) });
  if (near.length === 0) return [];
  const page = await ctx.issues.list({
    team: issue.team.key,
    filter: { id: near.map(({ id }) => id) },
    fields: ['identifier', 'title'],
    limit: nearestCount,
  });
  return page.data
    .flatMap(({ id, identifier, title }) => {
      const match = near.find((one) => one.id === id);
      if (!match || !identifier || title === undefined || id === issue.parent?.id) return [];
      return [{ identifier, title, shared: match.shared, score: similarity(segments, terms, match, title) }];
    })
    .filter(({ score }) => score >= similarityMin)
    .sort((a, b) => b.score - a.score)
    .slice(0, shownMax);
}

/** Returns the geometric mean of the similarities of the texts and of the titles. */
export function similarity(segments: readonly Segment[], terms: Terms, match: Match, title: string): number {
  const other = termsOf({ title, description: '' }).title;
  let own = 0;
  let shared = 0;
  let others = 0;
  for (const code of terms.title.keys()) {
    const rarity = rarityOf(segments, code);
    own += rarity;
    if (other.has(code)) shared += rarity;
  }
  for (const code of other.keys()) others += rarityOf(segments, code);
  return Math.sqrt((match.score * 2 * shared) / (own + others || 1));
}
