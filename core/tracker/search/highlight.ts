// Excerpt of a text around its matches, with their ranges. The text is unescaped and contains no markup, so
// clients must escape it and mark the ranges themselves.
import type { Phrase } from './query.ts';
import { rangesIn, type Range } from './ranges.ts';

export interface Excerpt {
  readonly text: string;
  /** Matched ranges of `text` in UTF-16 code units, ascending and non-overlapping. */
  readonly ranges: Range[];
}

/** Maximum length of an excerpt, and of its part before the first match, in characters. */
const excerptMax = 240;
const before = 60;
/** Most texts match near their beginning, so that part is searched first. */
const firstLook = 4_096;

/** Returns null if the text does not match. */
export function excerptOf(text: string, wanted: readonly Phrase[]): Excerpt | null {
  const near = rangesIn(text.length > firstLook ? text.slice(0, firstLook) : text, wanted, excerptMax);
  const ranges = near.length > 0 || text.length <= firstLook ? near : rangesIn(text, wanted, excerptMax);
  const [first] = ranges;
  if (!first) return null;
  const start = cutBefore(text, first.start);
  const end = Math.min(text.length, start + excerptMax);
  const excerpt = text.slice(start, end).toWellFormed();
  const within = ranges.filter((range) => range.end <= end);
  return {
    text: excerpt,
    ranges: within.map((range) => ({ start: range.start - start, end: range.end - start })),
  };
}

/** Cuts at a space, so that no word or character is split. */
function cutBefore(text: string, at: number): number {
  if (at <= before) return 0;
  const space = text.indexOf(' ', at - before);
  return space < 0 || space >= at ? at : space + 1;
}
