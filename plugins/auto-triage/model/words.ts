import { stem } from './stem.ts';

/** Stems of the words that this isolate has read, because most words of an issue occur in earlier ones. */
const stems = new Map<string, string>();
const stemsMax = 10_000;

function stemOf(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= stemsMax) stems.clear();
  const own = stem(word.replace('’', "'"));
  stems.set(word, own);
  return own;
}

const wordPattern = /[a-z][a-z0-9_]*(?:['’][a-z]+)?|\d+(?:\.\d+)*|[?!]|[.;]\s/g;

/** Returns lower-case stems in order; numbers become 0 (versions 0.0), sentence ends `.`; `?` and `!` are kept. */
export function proseWords(text: string): string[] {
  const words: string[] = [];
  for (const match of text.toLowerCase().match(wordPattern) ?? []) {
    const first = match.charCodeAt(0);
    if (first >= 97 && first <= 122) words.push(stemOf(match));
    else if (first >= 48 && first <= 57) words.push(match.includes('.') ? '0.0' : '0');
    else words.push(match.charAt(0));
  }
  return words;
}

const codeWordPattern = /[A-Za-z_][A-Za-z0-9_]{1,40}/g;

/** Returns the identifiers of code in lower case. */
export function codeWords(text: string): string[] {
  return (text.match(codeWordPattern) ?? []).map((word) => word.toLowerCase());
}

/** Returns the first spelling of each of the stems in the text, for display. */
export function surfaceForms(text: string, wanted: ReadonlySet<string>): Map<string, string> {
  const forms = new Map<string, string>();
  for (const match of text.match(/[A-Za-z][A-Za-z0-9_]*(?:['’][A-Za-z]+)?/g) ?? []) {
    if (forms.size === wanted.size) break;
    const key = stemOf(match.toLowerCase());
    if (wanted.has(key) && !forms.has(key)) forms.set(key, match);
  }
  return forms;
}
