// Parses search queries: words, "phrases", prefixes (`pref*`) and exclusions (`-word`), and finds their
// phrases in a text. Only quoted words reach the full-text engine, so user input is never interpreted as
// its syntax.
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { wordsIn, hasSigns, isAscii, textMax, wordMax } from './words.ts';

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

/** Returns the query for titles that have a word with each of the prefixes. @throws ApiError validation_failed */
export function matchTitles(q: string, mark: string): string | null {
  const phrases = wordsIn(q).map(({ word }) => ({ words: [word], isBeginning: true }));
  requireSize(phrases);
  return phrases.length === 0 ? null : matchOf({ wanted: phrases, unwanted: [] }, mark, ['title']);
}

function stringOf({ words, isBeginning }: Phrase, mark: string): string {
  const string = `"${words.map((word) => mark + word).join(' ')}"`;
  return isBeginning ? `${string} *` : string;
}

/** Range of a text in UTF-16 code units; `end` is exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns ascending ranges without overlaps. ASCII texts, which are most, are searched by characters, which takes a
 * tenth of the time of splitting them into words and gives the same result.
 * @param reach number of code units after the first range within which all others are returned; later ones
 * may be missing
 */
export function rangesIn(text: string, wanted: readonly Phrase[], reach: number): Range[] {
  const searched = text.length > textMax ? text.slice(0, textMax) : text;
  // Signs at the end of a word are separate words, which the search by characters does not recognize.
  const isPlain = isAscii(searched) && !hasSigns(searched);
  const ranges = isPlain ? inAscii(searched, wanted, reach) : inWords(searched, wanted);
  return merged(ranges.sort((a, b) => a.start - b.start));
}

function inAscii(text: string, wanted: readonly Phrase[], reach: number): Range[] {
  const lower = text.toLowerCase();
  const ranges: Range[] = [];
  let until = lower.length;
  for (const phrase of wanted) {
    const first = phrase.words[0]!;
    for (let at = lower.indexOf(first); at >= 0 && at <= until; at = lower.indexOf(first, at + 1)) {
      const end = endOf(lower, at, phrase);
      if (end === null) continue;
      ranges.push({ start: at, end });
      until = Math.min(until, at + reach);
    }
  }
  return ranges;
}

/**
 * Returns the end of a phrase that starts at an index of lower-case ASCII text; null if it does not match.
 */
function endOf(text: string, at: number, { words, isBeginning }: Phrase): number | null {
  if (isOfWord(text, at - 1)) return null;
  let end = at;
  for (let n = 0; n < words.length; n++) {
    const word = words[n]!;
    if (n > 0) while (end < text.length && !isOfWord(text, end)) end++;
    if (!text.startsWith(word, end)) return null;
    end += word.length;
    const isCut = word.length === wordMax || (isBeginning && n === words.length - 1);
    if (isCut) while (isOfWord(text, end)) end++;
    else if (isOfWord(text, end)) return null;
  }
  return end;
}

function isOfWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

function inWords(text: string, wanted: readonly Phrase[]): Range[] {
  const words = wordsIn(text);
  const ranges: Range[] = [];
  for (let at = 0; at < words.length; at++)
    for (const { words: sought, isBeginning } of wanted) {
      const last = sought.length - 1;
      const fits = sought.every((one, index) => {
        const word = words[at + index]?.word;
        return word !== undefined && (isBeginning && index === last ? word.startsWith(one) : word === one);
      });
      if (fits) ranges.push({ start: words[at]!.start, end: words[at + last]!.end });
    }
  return ranges;
}

function merged(ranges: readonly Range[]): Range[] {
  const apart: Range[] = [];
  for (const range of ranges) {
    const last = apart.at(-1);
    if (last && range.start <= last.end)
      apart[apart.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
    else apart.push(range);
  }
  return apart;
}
