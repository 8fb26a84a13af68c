// Brings rows of other trackers within what an issue can hold.
import { optional, type ImportRow, type RowReporter } from './formats/row.ts';

const titleCharsMax = 500;
const descriptionBytesMax = 256 * 1024;

export function fitTitle(text: string): string {
  return fitChars(text, titleCharsMax);
}

export function fitChars(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

export function fitDescription(text: string): string {
  return fitBytes(text, descriptionBytesMax);
}

export function fitBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const bytes = Buffer.from(text);
  let end = bytesMax - Buffer.byteLength('…');
  // Not within a character: its further bytes are 10xxxxxx.
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return `${bytes.subarray(0, end).toString()}…`;
}

/** The last path segment, upper-cased to a team key; null when nothing is left of it. */
export function teamKeyOf(name: string): string | null {
  const last = name.split('/').at(-1) ?? '';
  const key = last
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .replace(/^[0-9]+/, '')
    .slice(0, 10);
  return key === '' ? null : key;
}

/** A row without times that contradict others of it, which the server refuses: the creation counts first, then the end. */
export function withTimesInOrder(
  { startedAt, endedAt, ...row }: ImportRow,
  left: RowReporter['left'],
): ImportRow {
  const isLeft = (what: string, time: string | undefined, earlier: string | null | undefined): boolean => {
    const isWrong = time !== undefined && typeof earlier === 'string' && time < earlier;
    if (isWrong) left(what);
    return isWrong;
  };
  const end = isLeft('endedAt before the time of creation', endedAt, row.createdAt) ? undefined : endedAt;
  const isStartLeft =
    isLeft('startedAt before the time of creation', startedAt, row.createdAt) ||
    isLeft('startedAt after endedAt', end, startedAt);
  return {
    ...row,
    ...optional('startedAt', isStartLeft ? undefined : startedAt),
    ...optional('endedAt', end),
  };
}
