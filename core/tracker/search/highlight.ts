// Where a text has what was looked for: a part of it, and the ranges in it. The text goes out as it is, so whoever shows it escapes it
// as any other text, and marks the ranges: nothing in it is markup of ours.
import type { Phrase } from './query.ts';
import { rangesIn, type Range } from './ranges.ts';

export interface Excerpt {
  readonly text: string;
  /** UTF-16 code units of `text`, ascending, apart from each other. */
  readonly ranges: Range[];
}

/** Characters of an excerpt, and of those how many may stand before the first range. */
const excerptMax = 240;
const before = 60;
/** Most texts have it near their beginning. */
const firstLook = 4_096;

/** Null where the text has none of it. */
export function excerptOf(text: string, wanted: readonly Phrase[]): Excerpt | null {
  const near = rangesIn(text.length > firstLook ? text.slice(0, firstLook) : text, wanted, excerptMax);
  const ranges = near.length > 0 || text.length <= firstLook ? near : rangesIn(text, wanted, excerptMax);
  const [first] = ranges;
  if (!first) return null;
  const start = cutBefore(text, first.start);
  const end = Math.min(text.length, start + excerptMax);
  const shown = text.slice(start, end).toWellFormed();
  const within = ranges.filter((range) => range.end <= end);
  return {
    text: shown,
    ranges: within.map((range) => ({ start: range.start - start, end: range.end - start })),
  };
}

/** At a space, so that no word and no character is cut in two. */
function cutBefore(text: string, at: number): number {
  if (at <= before) return 0;
  const space = text.indexOf(' ', at - before);
  return space < 0 || space >= at ? at : space + 1;
}
