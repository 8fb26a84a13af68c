// What a text consists of for search: words without case and accents, and the letters of scripts that put no spaces between words one
// by one. The index and queries cut texts alike. In the index each word has the mark of its workspace before it, so that workspaces
// share no word: no query meets another's, and none of them counts in its rank or its cost.

interface Word {
  readonly word: string;
  /** Where it stands in the text (UTF-16 code units). */
  readonly start: number;
  readonly end: number;
}

/** What is longer is no word that anybody types. */
export const wordMax = 64;
/** Characters of a text that are searched; what comes behind is a log or a dump. */
export const textMax = 65_536;

const unspaced = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`;
const wordOrLetter = new RegExp(String.raw`${unspaced}\p{M}*|(?:(?!${unspaced})[\p{L}\p{N}\p{M}])+`, 'gu');
const asciiWord = /[a-z0-9]+/g;
// oxlint-disable-next-line no-control-regex
const ascii = /^[\0-\x7f]*$/;

export function isAscii(text: string): boolean {
  return ascii.test(text);
}

/** In the order of the text. */
export function wordsIn(text: string): Word[] {
  const words: Word[] = [];
  const searched = text.length > textMax ? text.slice(0, textMax) : text;
  if (isAscii(searched)) {
    for (const { 0: word, index } of searched.toLowerCase().matchAll(asciiWord))
      words.push({ word: word.slice(0, wordMax), start: index, end: index + word.length });
    return words;
  }
  for (const { 0: found, index } of searched.matchAll(wordOrLetter)) {
    const word = fold(found);
    if (word !== '') words.push({ word, start: index, end: index + found.length });
  }
  return words;
}

function fold(found: string): string {
  const plain = isAscii(found) ? found : found.normalize('NFKD').replaceAll(/[^\p{L}\p{N}]/gu, '');
  return plain.toLowerCase().slice(0, wordMax);
}

/** What the words of a workspace begin with in the index: as much of its id as tells it from others. */
export function markOf(workspaceId: string): string {
  return workspaceId
    .replaceAll(/[^\da-zA-Z]/g, '')
    .slice(-10)
    .toLowerCase();
}

/** A text as the index takes it. */
export function indexed(mark: string, text: string): string {
  let words = '';
  for (const { word } of wordsIn(text)) words += ` ${mark}${word}`;
  return words;
}
