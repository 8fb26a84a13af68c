// Splits texts into words for search: words without case and accents, and single letters for scripts without
// spaces. The index and queries use the same rules. In the index each word has the identifier of its workspace
// as a prefix, so workspaces share no words: a query never matches texts of another workspace, and those texts
// affect neither the rank nor the cost of the query.
//
// A word that ends in symbols, such as `C++` or `C#`, is split into two consecutive words: `c` and `c＋＋`. So
// the query `C` finds `C++` as well, and phrases match at the same word positions. The index uses full-width
// symbols, because its tokenizer (`ascii` of FTS5) treats everything outside ASCII as letters. For the same
// reason, an emoji is a word without any conversion.

interface Word {
  readonly word: string;
  /** Start index in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

/** Longer words are cut, because queries rarely contain them. */
export const wordMax = 64;
/** Maximum number of characters indexed; longer texts are logs or dumps. */
export const textMax = 65_536;

const unspaced = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`;
/** Signs at the end of a word. A number may follow `++`, as in `C++20`. */
const signs = String.raw`(?:\+\+(?![\p{L}+#])|[+#](?![\p{L}\p{N}+#]))`;
/** Skin tones and joiners are left out, so that a search finds all variants of an emoji. */
const emoji = String.raw`\p{Extended_Pictographic}|\p{Regional_Indicator}`;
const letters = String.raw`(?:(?!${unspaced})[\p{L}\p{N}\p{M}])+`;
const wordOrLetter = new RegExp(String.raw`${unspaced}\p{M}*|${letters}`, 'gu');
const wordOrMore = new RegExp(String.raw`${unspaced}\p{M}*|(${letters})(${signs})?|${emoji}`, 'gu');
/** Most texts have neither symbols nor emoji, and use the simpler expression, which is three times as fast. */
const hasMore = new RegExp(String.raw`[\p{L}\p{N}\p{M}][+#]|${emoji}`, 'u');
const plus = 0x2b;
const hash = 0x23;
const asciiWord = /[a-z0-9]+/g;
const asciiWordAndSigns = /([a-z0-9]+)(\+\+(?![a-z+#])|[+#](?![a-z0-9+#]))?/g;
// oxlint-disable-next-line no-control-regex
const ascii = /^[\0-\x7f]*$/;

export function isAscii(text: string): boolean {
  return ascii.test(text);
}

/** Returns words in text order. */
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
  for (const { 0: match, index } of text.matchAll(wordOrLetter)) {
    const word = fold(match);
    if (word !== '') words.push({ word, start: index, end: index + match.length });
  }
  return words;
}

function mixedWords(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: match, 1: spelled = match, 2: after, index } of text.matchAll(wordOrMore)) {
    const word = isPictograph.test(match) ? match : fold(spelled);
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

/** Converts a word from its form in the index, with full-width symbols. */
export const writtenWord = (word: string): string => word.replaceAll('＋', '+').replaceAll('＃', '#');

function fold(match: string): string {
  if (isAscii(match)) return match.toLowerCase().slice(0, wordMax);
  const plain = match
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
  // `toLowerCase` does not unify lowercase letters that share a capital.
  return plain.replaceAll('ß', 'ss').replaceAll('ς', 'σ').slice(0, wordMax);
}

/** Returns the prefix of a workspace's words in the index: a distinctive part of its id. */
export function markOf(workspaceId: string): string {
  return workspaceId
    .replaceAll(/[^\da-zA-Z]/g, '')
    .slice(-10)
    .toLowerCase();
}

/** Returns a text in the form that the index stores. */
export function indexed(mark: string, text: string): string {
  const plain = text.length <= textMax ? indexedPlain(mark, text.toLowerCase()) : null;
  if (plain !== null) return plain;
  let words = '';
  for (const { word } of wordsIn(text)) words += ` ${mark}${word}`;
  return words;
}

/**
 * Handles most texts in one pass, in less than half the time.
 * @param lower text in lower case
 * @returns null for a text that is not ASCII, or that has signs after a word
 */
function indexedPlain(mark: string, lower: string): string | null {
  let words = '';
  let start = -1;
  for (let at = 0; at < lower.length; at++) {
    const code = lower.charCodeAt(at);
    const isOfWord = (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
    if (isOfWord) {
      if (start < 0) start = at;
      continue;
    }
    if (code > 0x7f) return null;
    if (start < 0) continue;
    if (code === plus || code === hash) return null;
    words += ` ${mark}${lower.slice(start, Math.min(at, start + wordMax))}`;
    start = -1;
  }
  return start < 0 ? words : `${words} ${mark}${lower.slice(start, start + wordMax)}`;
}
