// Numeric features of an issue's form: lengths, punctuation, code, traces, links, cues in title and prose, and rates
// of function words. Each is roughly bounded to 0–3, so that the kernel needs no learned scale.
import type { CueHit } from './cues.ts';
import type { Document } from './document.ts';
import { answerMeasures, countMeasures, flagMeasures, functionWordList, type TextPart } from './measures.ts';

export type Measured = {
  readonly name: string;
  readonly value: number;
  /** May be shown as evidence. */
  readonly shown?: boolean | undefined;
  /** Text matched by a cue. */
  readonly quote?: string | undefined;
};

const proseCharsMax = 6000;

/** Returns the same names in the same order for every document. */
export function structure(document: Document, hits: readonly CueHit[]): Measured[] {
  const parts = partsOf(document);
  const words = parts.proseLow.match(/[a-z']+/g) ?? [];
  return [
    ...lengths(document, words),
    ...countMeasures.map(({ name, part, pattern, shown }) => ({
      name,
      shown,
      value: Math.log1p(count(parts[part], pattern)),
    })),
    ...flagMeasures.map(({ name, part, pattern, shown, value = 1 }) => ({
      name,
      shown,
      value: pattern.test(parts[part]) ? value : 0,
    })),
    ...answerMeasures.map(({ name, pattern, shown, value = 1 }) => ({
      name,
      shown,
      value: document.sections.some((section) => pattern.test(section.value)) ? value : 0,
    })),
    ...cues(hits),
    ...functionWords(words),
  ];
}

function partsOf({ title, body, prose, comments, code }: Document): Record<TextPart, string> {
  const titleLow = title.toLowerCase();
  const proseLow = prose.toLowerCase().slice(0, proseCharsMax);
  const titleStart = /^ *(?:\[[^\]]*\]|[\w/ -]{1,20}:)? *([a-z']+)/.exec(titleLow)?.[1] ?? '';
  return {
    title,
    titleLow,
    titleStart,
    body,
    prose,
    proseLow,
    proseEnd: proseLow.slice(-160),
    comments,
    code,
  };
}

function lengths(
  { title, body, prose, code, lines, sections, comments }: Document,
  words: readonly string[],
): Measured[] {
  const titleWords = title.toLowerCase().match(/[a-z']+/g)?.length ?? 0;
  const empty = sections.filter(({ value }) => value === '' || value === 'no response').length;
  const sentences = count(prose, /[.!?](?:\s|$)/g);
  const values: Record<string, number> = {
    'title length': Math.log1p(titleWords),
    'title characters': Math.log1p(title.length) / 2,
    length: Math.log1p(body.length) / 3,
    'prose length': Math.log1p(words.length) / 2,
    'code length': Math.log1p(code.length) / 3,
    'code share': code.length / (body.length + 1),
    lines: Math.log1p(lines.length) / 2,
    'template headings': Math.log1p(sections.length),
    'template comments': Math.log1p(comments.length) / 3,
    'empty answers': Math.log1p(empty),
    'inline code': Math.log1p(count(prose + title, /`/g)),
    'capitals in the title': (count(title, /[A-Z]/g) / (title.length + 1)) * 3,
    'short lines': Math.log1p(lines.filter((line) => line.length < 30).length) / 2,
    sentences: Math.log1p(sentences) / 1.5,
    'word length': words.join('').length / (words.length + 1) / 3,
    'a title of one or two words': titleWords <= 2 ? 1 : 0,
    'a body of one line': lines.length <= 2 ? 1 : 0,
    'questions per sentence': Math.min(2, (count(prose, /\?/g) * 5) / (1 + sentences)),
  };
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

function cues(hits: readonly CueHit[]): Measured[] {
  return hits.flatMap(({ cue: { name }, title, opening, prose }) => [
    { name: `${name} in the title`, value: title === undefined ? 0 : 1.5, quote: title, shown: true },
    { name: `${name} at the start`, value: opening === undefined ? 0 : 1, quote: opening, shown: true },
    { name, value: prose === undefined ? 0 : 1, quote: prose, shown: true },
  ]);
}

function functionWords(words: readonly string[]): Measured[] {
  const times = new Map<string, number>();
  for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
  return functionWordList.map((word) => ({
    name: `“${word}”`,
    value: Math.min(2, Math.sqrt(((times.get(word) ?? 0) / (words.length + 10)) * 20)),
  }));
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
