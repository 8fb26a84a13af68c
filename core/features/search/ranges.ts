// Finds phrases in a text. ASCII texts, which are most, are searched by characters, which takes a tenth of
// the time of splitting them into words and gives the same result.
import type { Phrase } from './query.ts';
import { hasSigns, isAscii, textMax, wordMax, wordsIn } from './words.ts';

/** Range of a text in UTF-16 code units; `end` is exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns ascending ranges without overlaps.
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
