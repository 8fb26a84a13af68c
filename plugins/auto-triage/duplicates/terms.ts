// Terms of an issue for the search of duplicates: stems of all words, code included, and of the parts of camel-case
// identifiers, hashed to codes. Unlike the words of the kind they include numbers and identifiers, because duplicates
// share rare words.
import type { IssueText } from '../model/document.ts';
import { stem } from '../model/stem.ts';

/** A code is a bucket and a fingerprint. Two words share a code with a probability of 1 in 188,416. */
export const bucketCount = 2048;
export const fingerprintCount = 92;

const titleCharsMax = 500;
/** Limits of the text and of its distinct terms. Larger ones find no more duplicates, but cost space and time. */
const bodyCharsMax = 3000;
const termsMax = 128;
const wordCharsMax = 24;
const partsMax = 6;

const wordPattern = /[A-Za-z0-9\u00c0-\u1fff\u3040-\ud7ff]+/g;
const innerCapital = /[a-z0-9][A-Z]|[A-Z][A-Z][a-z]/;
const partStart = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

const skipped = new Set(
  (
    'a an the of to in on at by for from with as into and or but if then so is are was were be been am it its this that these ' +
    'those there here i me my we our us you your he she they them not no do does did has have had will would can could should ' +
    'may might must just also any some all s t http https www com org'
  ).split(' '),
);

/** Codes of the words that this isolate has read, because most words of an issue occur in earlier ones. */
const cache = new Map<string, readonly number[]>();
const cacheMax = 20_000;

/** Terms of an issue by code, each with its first spelling. */
export interface Terms {
  readonly title: ReadonlyMap<number, string>;
  /** Terms of the description that are not in the title, in order. */
  readonly body: ReadonlyMap<number, string>;
}

export function termsOf({ title, description }: IssueText): Terms {
  const inTitle = new Map<number, string>();
  collect(title.slice(0, titleCharsMax), inTitle, inTitle, termsMax);
  const inBody = new Map<number, string>();
  collect(description.slice(0, bodyCharsMax), inBody, inTitle, termsMax - inTitle.size);
  return { title: inTitle, body: inBody };
}

/** Returns the codes of an issue's terms, as they are indexed. */
export function codesOf({ title, body }: Terms): number[] {
  return [...title.keys(), ...body.keys()];
}

function collect(
  text: string,
  into: Map<number, string>,
  known: ReadonlyMap<number, string>,
  max: number,
): void {
  for (const word of text.match(wordPattern) ?? [])
    for (const code of codesOfWord(word)) {
      if (into.size >= max) return;
      if (!known.has(code) && !into.has(code)) into.set(code, word);
    }
}

function codesOfWord(word: string): readonly number[] {
  const known = cache.get(word);
  if (known) return known;
  const codes: number[] = [];
  if (word.length <= wordCharsMax) {
    addCode(word, codes);
    const parts = innerCapital.test(word) ? word.split(partStart) : [];
    if (parts.length > 1 && parts.length <= partsMax)
      for (const part of parts) if (part.length > 1) addCode(part, codes);
  }
  if (cache.size >= cacheMax) cache.clear();
  cache.set(word, codes);
  return codes;
}

function addCode(word: string, into: number[]): void {
  const low = word.toLowerCase();
  if (!skipped.has(low)) into.push(codeOf(stem(low)));
}

/** FNV-1a over UTF-16 units, mixed and reduced to the range of codes. */
function codeOf(term: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < term.length; i++) h = Math.imul(h ^ term.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return ((h ^ (h >>> 13)) >>> 0) % (bucketCount * fingerprintCount);
}
