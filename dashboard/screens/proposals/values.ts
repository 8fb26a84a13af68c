// Values of a proposed change as text.
import { text, wordsOfName } from '../../text/common.ts';

/**
 * Characters that a reader cannot see (Unicode TR 36 §3.3): controls, bidirectional marks and ignorable characters, except
 * line ends, tabs, and those that join and color emoji. A proposal must not look like another change than it is.
 */
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]|(?!\u200d|[\ufe0e-\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

/** Writes unseen characters as escapes. */
function visible(value: string): string {
  return value.replaceAll(unseen, (char) =>
    char.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Returns the name of a property, such as `dueDate`, in words. The key of a custom field stays as it is. */
export function fieldWords(name: string): string {
  if (name.includes('.')) return visible(name);
  const words = wordsOfName(name);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return text.none;
  if (Array.isArray(value)) return value.length === 0 ? text.none : value.map(valueText).join(', ');
  if (typeof value === 'string') return visible(value);
  if (typeof value !== 'object') return String(value);
  if ('name' in value) return visible(String(value.name));
  return visible('identifier' in value ? String(value.identifier) : JSON.stringify(value));
}

export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Texts from this length on are compared by line. */
const longText = 80;
/** Limit of comparisons, far above those of a description that a person reads. */
const comparisonsMax = 1_000_000;

/**
 * Returns the items of two lists, or the lines of two long texts, in order. Nothing is left out.
 * @returns null for values that are shown beside each other
 */
export function partsOf(before: unknown, after: unknown): readonly DiffPart[] | null {
  if (Array.isArray(before) && Array.isArray(after)) return compare(before, after);
  if (typeof before !== 'string' || typeof after !== 'string' || before === '' || after === '') return null;
  const isLong = Math.max(before.length, after.length) >= longText || (before + after).includes('\n');
  return isLong ? compare(before.split('\n'), after.split('\n')) : null;
}

/** Compares by the longest common subsequence, so that a changed order shows too. */
function compare(before: readonly unknown[], after: readonly unknown[]): readonly DiffPart[] | null {
  if (before.length * after.length > comparisonsMax) return null;
  const [a, b] = [before.map((one) => JSON.stringify(one)), after.map((one) => JSON.stringify(one))];
  const common = commonLengths(a, b);
  const parts: DiffPart[] = [];
  const add = (kind: DiffPart['kind'], value: unknown): void =>
    void parts.push({ kind, text: value === '' ? '' : valueText(value) });
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length)
    if (a[i] === b[j]) {
      add('same', before[i++]);
      j++;
    } else if (common(i + 1, j) >= common(i, j + 1)) add('removed', before[i++]);
    else add('added', after[j++]);
  for (const value of before.slice(i)) add('removed', value);
  for (const value of after.slice(j)) add('added', value);
  return parts;
}

/** Returns the length of the longest common subsequence of the rests from two positions on. */
function commonLengths(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j]!;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  return at;
}
