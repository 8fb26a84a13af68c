// The parser accepts every filter value that the types allow. For strings it uses the samples of the
// generator.
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseFilter } from '../../core/platform/lib/filter/filter.ts';
import { filterFieldsOf } from '../../core/app/event-schemas.ts';
import { root } from '../imports.ts';

const text = readFileSync(join(root, 'sdk/generated/filters.ts'), 'utf8').replaceAll(/\s+/g, ' ');
const wordsOf = (union: string): string[] => [...union.matchAll(/'([^']+)'/g)].map(([, word]) => word!);
const testsOf = (set: string): string[] =>
  wordsOf(new RegExp(`type ${set} = ([^;]+);`).exec(text)?.[1] ?? '');

/** Returns the values that the type of a field names. @param least minimum of a number */
function valuesOf(union: string, least: number): unknown[] {
  const plain = union.replaceAll(/'[^']+'/g, '');
  return [
    ...wordsOf(union),
    ...(/\bnumber\b/.test(plain) ? [least, least + 7] : []),
    ...(/\bboolean\b/.test(plain) ? [true] : []),
    ...(/\bnull\b/.test(plain) ? [null] : []),
  ];
}

/** Returns operands for a value and an operator, as `Test` of the SDK defines them. */
function operandsFor(test: string, value: unknown): unknown[] {
  if (test === 'in' || test === 'nin') return [[value], [value, value], []];
  if (test === 'null') return [true, false];
  if (test === 'contains' || test === 'startsWith') return ['2027'];
  return value === null && test !== 'eq' && test !== 'neq' ? [] : [value];
}

describe.each(
  [...text.matchAll(/export interface (\w+)Filter \{(.*?) \}/g)].map(([, name, body]) => [name!, body!]),
)('%s', (name, body) => {
  const [, type = ''] = new RegExp(`readonly '([^']+)': ${name}Filter;`).exec(text) ?? [];
  const fields = [...body.matchAll(/readonly (\w+)\?: \|? ?Test< ?(.*?), (\w+),? ?>/g)];

  test('all fields are read from the text', () => {
    expect(fields.map(([, field]) => field!).toSorted()).toEqual(
      Object.keys(filterFieldsOf(type)).toSorted(),
    );
  });

  test.each(fields.map(([, field, union, set]) => [field!, union!, set!]))('%s', (field, union, set) => {
    expect(testsOf(set).length).toBeGreaterThan(3);
    const known = filterFieldsOf(type)[field];
    const least = known?.type === 'number' ? known.minimum : 0;
    for (const value of valuesOf(union, least ?? 0)) {
      const tests = testsOf(set).flatMap((one) =>
        operandsFor(one, value).map((operand) => ({ [one]: operand })),
      );
      for (const condition of [value, [value], ...tests])
        parseFilter({ and: [{ [field]: condition }] }, filterFieldsOf(type));
    }
  });
});
