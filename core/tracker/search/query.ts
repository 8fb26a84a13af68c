// What people type into a search: words, "phrases", beginnings (`pref*`) and `-what must not be there`. Whatever it is, only words reach
// the full-text engine, quoted, so that nothing that anybody types is syntax of its own.
import { invalidField } from '../../lib/errors.ts';
import { wordsIn } from './words.ts';

/** Words that follow each other; the last may be the beginning of one. */
export interface Phrase {
  readonly words: readonly string[];
  readonly isBeginning: boolean;
}

export interface Query {
  readonly wanted: readonly Phrase[];
  readonly unwanted: readonly Phrase[];
}

interface Given {
  readonly not: string;
  readonly phrase: string | undefined;
  readonly plain: string | undefined;
}

/** More are a text, not a question. */
const phrasesMax = 16;
const wordsMax = 32;
const part = /(-?)(?:"([^"]*)"?|([^\s"]+))/g;

/**
 * Of a query that holds no word at all nothing is wanted.
 * @throws ApiError validation_failed for one that is too long, or only says what must not be there
 */
export function parseQuery(q: string): Query {
  const given = [...q.matchAll(part)].map(([, not = '', phrase, plain]): Given => ({ not, phrase, plain }));
  // Whoever is still typing has not come to the end of the last word.
  const last = /\s$/.test(q) ? undefined : given.at(-1);
  const phrases = given.flatMap((one) => {
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
      why: 'It only says what must not be there.',
      fix: 'Add a word to look for.',
    });
  return { wanted, unwanted };
}

function requireSize(phrases: readonly Phrase[]): void {
  const words = phrases.reduce((sum, phrase) => sum + phrase.words.length, 0);
  if (phrases.length > phrasesMax || words > wordsMax)
    throw invalidField(
      'q',
      'too_long',
      `Give at most ${phrasesMax} words and phrases, of ${wordsMax} words together.`,
    );
}

/**
 * The query in the words of FTS5 (sqlite.org/fts5.html, Full-text Query Syntax): strings of letters and digits, and our operators.
 * @param mark of the workspace
 * @param columns the only ones to look at; null for all
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

/** What has any of the words. */
export function matchAny(words: readonly string[], mark: string, columns: readonly string[]): string {
  return `{${columns.join(' ')}} : (${words.map((word) => `"${mark}${word}"`).join(' OR ')})`;
}

function stringOf({ words, isBeginning }: Phrase, mark: string): string {
  const string = `"${words.map((word) => mark + word).join(' ')}"`;
  return isBeginning ? `${string} *` : string;
}
