// Where two versions of a plugin would not do the same, as people read it: what both make otherwise field by field, and what one of them
// alone makes in one line.
import { displayValue } from './run.ts';

/** One field of one object, with what each version makes of it; null for nothing. */
export interface ListedDifference {
  readonly object: string;
  readonly field: string;
  readonly first: unknown;
  readonly second: unknown;
}

/** @param names what each of the two versions is called */
export function differenceLines(
  differences: readonly ListedDifference[],
  [first, second]: readonly [string, string],
): string[] {
  return [...Map.groupBy(differences, ({ object }) => object)].flatMap(([object, fields]) => {
    const [, kind] = /^(\S+) new \d+$/.exec(object) ?? [];
    if (kind !== undefined) {
      if (fields.every((one) => one.first === null)) return [madeLine(second, kind, fields, 'second')];
      if (fields.every((one) => one.second === null)) return [madeLine(first, kind, fields, 'first')];
    }
    return fields.map((one) => `    ${object} ${one.field}: ${madeIt(one.first)} → ${madeIt(one.second)}`);
  });
}

const madeIt = (value: unknown): string => (value === null ? 'nothing' : displayValue(value));

/** `only 1.1.0 makes a comment on ENG-12: body "Thanks"`. */
function madeLine(
  version: string,
  kind: string,
  fields: readonly ListedDifference[],
  made: 'first' | 'second',
): string {
  const on = fields.find(({ field }) => field === 'issue');
  const said = fields
    .filter((one) => one !== on)
    .map((one) => `${one.field} ${displayValue(one[made])}`)
    .join(', ');
  const where = on ? ` on ${displayValue(on[made])}` : '';
  return `    only ${version} creates a ${kind.replaceAll('_', ' ')}${where}: ${said}`;
}
