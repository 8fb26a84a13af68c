// Counts the features of a document per block, in hashed buckets. Blocks are normalised separately, so that a long
// description does not outweigh the title. Names are not stored; explanations count the features again with names.
import type { Document } from './document.ts';
import { codeWords, proseWords } from './words.ts';

const bucketBits = 15;
export const bucketCount = 1 << bucketBits;

/** Weight of each block in the sum of block cosines. */
export const blockWeights = {
  titleWords: 1,
  titlePairs: 0.75,
  words: 0.7,
  pairs: 1,
  opening: 0.2,
  characters: 1,
  code: 0.75,
  template: 0.75,
  lines: 0.75,
  closing: 0.4,
  grammar: 0.2,
} as const;

export type BlockName = keyof typeof blockWeights;
/** Counts per bucket. Typed arrays limit the memory of training, which needs hundreds of blocks at once. */
export type Block = {
  readonly name: BlockName;
  readonly buckets: Int32Array;
  readonly counts: Uint16Array;
  /** First text of each bucket, if requested; absent for blocks whose features are no evidence. */
  readonly texts?: readonly string[];
};

/**
 * Limits of the counted text. The kind of an issue is usually clear early; further detail only dilutes it.
 */
const proseWordsMax = 120;
const characterWordsMax = 150;
const proseCharsMax = 3000;
const closingCharsMax = 400;
const closingWordsMax = 30;
const codeCharsMax = 8000;
const linesMax = 200;

const grammarWords = new Set(
  (
    'i me my we our you your it its this that these those there here they a an the and or but if then so because when while ' +
    'where what which who how why not no can could would should will may might must do does did is are was were be been have ' +
    'has had to of in on at by for from with without as into about after before only also just still even more than any some ' +
    'all same please want need like get use make see try know think ? ! .'
  ).split(' '),
);

/** Blocks whose features can be shown as evidence. */
const shownBlocks: ReadonlySet<BlockName> = new Set([
  'titleWords',
  'titlePairs',
  'words',
  'pairs',
  'template',
]);

/** @param withTexts true to return the texts of features that can be shown as evidence */
export function countFeatures(document: Document, withTexts = false): Block[] {
  const titleWords = proseWords(document.title);
  const words = proseWords(document.prose.slice(0, proseCharsMax)).slice(0, proseWordsMax);
  const blocks: Block[] = [];
  const block = (name: BlockName, fill: (add: (text: string) => void) => void): void => {
    const counts = new Map<number, number>();
    const texts: string[] | undefined = withTexts && shownBlocks.has(name) ? [] : undefined;
    const salt = salts[name];
    fill((text) => {
      const bucket = toBucket(hash(text, salt));
      const count = counts.get(bucket);
      counts.set(bucket, (count ?? 0) + 1);
      if (count === undefined) texts?.push(text);
    });
    blocks.push({ ...toBlock(name, counts), ...(texts && { texts }) });
  };
  block('titleWords', (add) => titleWords.forEach(add));
  block('titlePairs', (add) => eachPair(['^', ...titleWords], add));
  block('words', (add) => words.forEach(add));
  block('pairs', (add) => eachPair(words, add));
  block('opening', (add) => {
    words.slice(0, 40).forEach(add);
    eachPair(words.slice(0, 40), add);
  });
  block('closing', (add) => {
    const last = proseWords(document.prose.slice(-closingCharsMax)).slice(-closingWordsMax);
    last.forEach(add);
    eachPair(last, add);
  });
  block('code', (add) => codeWords(document.code.slice(0, codeCharsMax)).forEach(add));
  block('template', (add) => {
    for (const { heading, value } of document.sections.slice(0, linesMax)) {
      add(heading);
      add(`${heading} = ${value}`);
    }
  });
  block('lines', (add) => document.lines.slice(0, linesMax).forEach(add));
  block('grammar', (add) => eachGrammarGram([...titleWords, '.', ...words], add));
  blocks.push(
    toBlock('characters', countCharacters(`${document.title} ${document.prose.slice(0, proseCharsMax)}`)),
  );
  return blocks;
}

function toBlock(name: BlockName, counts: ReadonlyMap<number, number>): Block {
  return { name, buckets: Int32Array.from(counts.keys()), counts: Uint16Array.from(counts.values()) };
}

function eachPair(words: readonly string[], add: (text: string) => void): void {
  for (let i = 1; i < words.length; i++) add(`${words[i - 1]} ${words[i]}`);
}

/** Two- and three-word frames with blanks for content words: "how _ i", "would be _". */
function eachGrammarGram(words: readonly string[], add: (text: string) => void): void {
  let previous = '';
  let beforePrevious = '';
  for (const word of words) {
    const shape = grammarWords.has(word) ? word : '_';
    if (shape !== '_' || previous !== '_') {
      if (previous !== '') add(`${previous} ${shape}`);
      if (beforePrevious !== '') add(`${beforePrevious} ${previous} ${shape}`);
    } else if (beforePrevious !== '_' && beforePrevious !== '') add(`${beforePrevious} _ _`);
    beforePrevious = previous;
    previous = shape;
  }
}

/** Counts character n-grams of length three to five per padded word; each distinct word is hashed once. */
function countCharacters(text: string): Map<number, number> {
  const times = new Map<string, number>();
  const words = text.toLowerCase().match(/[a-z0-9_']+|[?!]/g) ?? [];
  for (const word of words.slice(0, characterWordsMax)) times.set(word, (times.get(word) ?? 0) + 1);
  const counts = new Map<number, number>();
  const salt = salts.characters;
  for (const [word, count] of times) {
    const padded = ` ${word.slice(0, 30)} `;
    for (let start = 0; start + 3 <= padded.length; start++) {
      let h = salt;
      const end = Math.min(padded.length, start + 5);
      for (let i = start; i < end; i++) {
        h = Math.imul(h ^ padded.charCodeAt(i), 0x01000193);
        if (i - start < 2) continue;
        const bucket = toBucket(h);
        counts.set(bucket, (counts.get(bucket) ?? 0) + count);
      }
    }
  }
  return counts;
}

/** FNV-1a over UTF-16 units. */
function hash(text: string, seed: number): number {
  let h = seed;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h;
}

function toBucket(h: number): number {
  const mixed = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> (32 - bucketBits);
}

/** Start of the hash of each block, so that equal texts of two blocks are different features. */
const salts = Object.fromEntries(
  Object.keys(blockWeights).map((name) => [name, hash(name, 0x811c9dc5)]),
) as Record<BlockName, number>;
