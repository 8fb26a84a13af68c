// Parses search queries: words, "phrases", prefixes (`pref*`) and exclusions (`-word`). Only quoted words
// reach the full-text engine, so user input is never interpreted as its syntax.
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { wordsIn } from './words.ts';

/** Consecutive words; the last one may be a prefix. */
export interface Phrase {
  readonly words: readonly string[];
  readonly isBeginning: boolean;
}

export interface Query {
  readonly wanted: readonly Phrase[];
  readonly unwanted: readonly Phrase[];
}

interface QueryToken {
  readonly not: string;
  readonly phrase: string | undefined;
  readonly plain: string | undefined;
}

/** Limits that reject pasted texts as queries. */
const phrasesMax = 16;
const wordsMax = 32;
const part = /(-?)(?:"([^"]*)"?|([^\s"]+))/g;

/**
 * A query without any word has an empty `wanted`.
 * @throws ApiError validation_failed for a query that is too long, or that only excludes words
 */
export function parseQuery(q: string): Query {
  const tokens = [...q.matchAll(part)].map(([, not = '', phrase, plain]): QueryToken => ({
    not,
    phrase,
    plain,
  }));
  // The caller may still be typing the last word, so it counts as a prefix.
  const last = /\s$/.test(q) ? undefined : tokens.at(-1);
  const phrases = tokens.flatMap((one) => {
    const words = wordsIn(one.phrase ?? one.plain ?? '').map(({ word }) => word);
    const isBeginning =
      one.plain?.endsWith('*') || (one === last && one.plain !== undefined && one.not === '');
    return words.length === 0 ? [] : [{ words, isBeginning, not: one.not }];
  });
  requireSize(phrases);
  const wanted = phrases.filter(({ not }) => not === '');
  const unwanted = phrases.filter(({ not }) => not !== '');
  if (wanted.length === 0 && unwanted.length > 0)
    throw invalidField('q', 'too_short', {
      why: 'The query only excludes words.',
      fix: 'Add a word to search for.',
    });
  return { wanted, unwanted };
}

function requireSize(phrases: readonly Phrase[]): void {
  const words = phrases.reduce((sum, phrase) => sum + phrase.words.length, 0);
  if (phrases.length > phrasesMax || words > wordsMax)
    throw invalidField(
      'q',
      'too_long',
      `Give at most ${phrasesMax} words and phrases, with ${wordsMax} words in total.`,
    );
}

/**
 * Returns the query in FTS5 syntax (sqlite.org/fts5.html, Full-text Query Syntax): quoted strings of letters
 * and digits, and operators.
 * @param mark prefix of all words of the workspace
 * @param columns columns to search; null for all
 */
export function matchOf(
  { wanted, unwanted }: Query,
  mark: string,
  columns: readonly string[] | null,
): string {
  const all = wanted.map((phrase) => stringOf(phrase, mark)).join(' AND ');
  const none = unwanted.map((phrase) => stringOf(phrase, mark)).join(' OR ');
  const match = none === '' ? `(${all})` : `((${all}) NOT (${none}))`;
  return columns === null ? match : `{${columns.join(' ')}} : ${match}`;
}

/** Returns a query that matches any of the words. */
export function matchAny(words: readonly string[], mark: string, columns: readonly string[]): string {
  return `{${columns.join(' ')}} : (${words.map((word) => `"${mark}${word}"`).join(' OR ')})`;
}

function stringOf({ words, isBeginning }: Phrase, mark: string): string {
  const string = `"${words.map((word) => mark + word).join(' ')}"`;
  return isBeginning ? `${string} *` : string;
}
