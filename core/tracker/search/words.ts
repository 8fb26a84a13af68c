// What a text consists of for search: words without case and accents, and the letters of scripts that put no spaces between words one
// by one. The index and queries cut texts alike. In the index each word has the mark of its workspace before it, so that workspaces
// share no word: no query meets another's, and none of them counts in its rank or its cost.
//
// A word that ends in signs, such as `C++` or `C#`, is two words in a row: `c` and `c＋＋`. So `C` finds it too, and a phrase finds it where
// it stands. The signs are those of full width in the index, whose tokenizer (`ascii` of FTS5) takes all but ASCII for letters. For the same
// reason an emoji is a word as it is.

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
/** Signs at the end of a word; `C++20` has them before a number. */
const signs = String.raw`(?:\+\+(?![\p{L}+#])|[+#](?![\p{L}\p{N}+#]))`;
/** Skin tones and the joiners of emoji are left out, so that a search finds all forms of one. */
const emoji = String.raw`\p{Extended_Pictographic}|\p{Regional_Indicator}`;
const letters = String.raw`(?:(?!${unspaced})[\p{L}\p{N}\p{M}])+`;
const wordOrLetter = new RegExp(String.raw`${unspaced}\p{M}*|${letters}`, 'gu');
const wordOrMore = new RegExp(String.raw`${unspaced}\p{M}*|(${letters})(${signs})?|${emoji}`, 'gu');
/** Texts without it, which are most, are cut by the simpler expression: the other takes three times as long. */
const hasMore = new RegExp(String.raw`[\p{L}\p{N}\p{M}][+#]|${emoji}`, 'u');
const asciiWord = /[a-z0-9]+/g;
const asciiWordAndSigns = /([a-z0-9]+)(\+\+(?![a-z+#])|[+#](?![a-z0-9+#]))?/g;
// oxlint-disable-next-line no-control-regex
const ascii = /^[\0-\x7f]*$/;

export function isAscii(text: string): boolean {
  return ascii.test(text);
}

/** In the order of the text. */
export function wordsIn(text: string): Word[] {
  const searched = text.length > textMax ? text.slice(0, textMax) : text;
  if (!isAscii(searched)) return hasMore.test(searched) ? mixedWords(searched) : letterWords(searched);
  const lower = searched.toLowerCase();
  return hasSigns(lower) ? signedWords(lower) : asciiWords(lower);
}

function asciiWords(lower: string): Word[] {
  const words: Word[] = [];
  for (const { 0: word, index } of lower.matchAll(asciiWord))
    words.push({ word: word.slice(0, wordMax), start: index, end: index + word.length });
  return words;
}

function signedWords(lower: string): Word[] {
  const words: Word[] = [];
  for (const { 1: word = '', 2: after, index } of lower.matchAll(asciiWordAndSigns))
    push(words, word.slice(0, wordMax), after, { start: index, end: index + word.length });
  return words;
}

function letterWords(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: found, index } of text.matchAll(wordOrLetter)) {
    const word = fold(found);
    if (word !== '') words.push({ word, start: index, end: index + found.length });
  }
  return words;
}

function mixedWords(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: found, 1: spelled = found, 2: after, index } of text.matchAll(wordOrMore)) {
    const word = isPictograph.test(found) ? found : fold(spelled);
    if (word !== '') push(words, word, after, { start: index, end: index + spelled.length });
  }
  return words;
}

const isPictograph = new RegExp(`^(?:${emoji})$`, 'u');

const signAfterWord = /[a-z0-9][+#]/i;

/** @param text ASCII */
export function hasSigns(text: string): boolean {
  return signAfterWord.test(text);
}

function push(
  words: Word[],
  word: string,
  after: string | undefined,
  { start, end }: { readonly start: number; readonly end: number },
): void {
  words.push({ word, start, end });
  if (after !== undefined && word.length < wordMax)
    words.push({ word: word + inFullWidth(after), start, end: end + after.length });
}

const inFullWidth = (text: string): string => text.replaceAll('+', '＋').replaceAll('#', '＃');

/** A word as people write it. */
export const writtenWord = (word: string): string => word.replaceAll('＋', '+').replaceAll('＃', '#');

function fold(found: string): string {
  if (isAscii(found)) return found.toLowerCase().slice(0, wordMax);
  const plain = found
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
  // Small letters that share a capital with others: toLowerCase leaves them apart.
  return plain.replaceAll('ß', 'ss').replaceAll('ς', 'σ').slice(0, wordMax);
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
