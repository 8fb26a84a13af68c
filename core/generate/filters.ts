// The types of filters. Which tests a field has and what they compare with is asked of the parser itself, so that what the types let
// through it takes.
import type { Contract } from '../contract/contract.ts';
import { contracts, eventsOf } from '../contracts.ts';
import { ApiError } from '../lib/errors.ts';
import { parseFilter, type FilterField, type FilterFields } from '../lib/filter.ts';
import { filterFieldsOf } from '../resources.ts';
import type { Library } from './library.ts';

/** What a test is given: a value, a list of values, a piece of text, whether there is none. */
const tests: Readonly<Record<string, (value: unknown) => unknown>> = {
  eq: (value) => value,
  neq: (value) => value,
  in: (value) => [value],
  nin: (value) => [value],
  contains: (value) => value,
  startsWith: (value) => value,
  gt: (value) => value,
  gte: (value) => value,
  lt: (value) => value,
  lte: (value) => value,
  null: () => true,
};

const fieldsOf = ({ events }: Contract): FilterFields => {
  const [type] = eventsOf(events);
  return type === undefined ? {} : filterFieldsOf(type);
};

/** Null for what nothing filters. */
export function filterName(contract: Contract): string | null {
  return Object.keys(fieldsOf(contract)).length === 0 ? null : `${contract.title}Filter`;
}

/** The filters of each kind of object, of each event, and of any. */
export function writeFilters(library: Library, file: string): void {
  const sets = new Map<string, string>();
  const filtered = contracts.filter((contract) => filterName(contract) !== null);
  for (const contract of filtered) {
    const name = filterName(contract)!;
    library.add(file, name, filterText(name, fieldsOf(contract), sets));
  }
  for (const [set, name] of sets) library.add(file, name, `type ${name} = ${set};`);
  const members = filtered.flatMap((contract) =>
    eventsOf(contract.events).map((type) => `readonly '${type}': ${filterName(contract)};`),
  );
  library.add(
    file,
    'EventFilters',
    `/** What subscriptions to a type of event can filter by; a type that is not here has nothing to filter by. */
    export interface EventFilters {\n${members.join('\n')}\n}`,
  );
  library.add(
    file,
    'EventFilter',
    `/** Of a subscription to any types. */
    export type EventFilter = EventFilters[keyof EventFilters];`,
  );
}

function filterText(name: string, fields: FilterFields, sets: Map<string, string>): string {
  const joints = [
    `readonly and?: readonly ${name}[] | undefined;`,
    `readonly or?: readonly ${name}[] | undefined;`,
    `readonly not?: ${name} | undefined;`,
  ];
  const members = Object.entries(fields).map(
    ([field, how]) => `readonly ${field}?: ${fieldText(field, how, fields, sets)} | undefined;`,
  );
  return `/** All conditions must hold; a value alone means \`eq\`, a list of values \`in\`. */
    export interface ${name} {\n${[...joints, ...members].join('\n')}\n}`;
}

function fieldText(
  name: string,
  field: FilterField,
  fields: FilterFields,
  sets: Map<string, string>,
): string {
  const values = valuesOf(field);
  const possible = Object.keys(tests).filter((test) =>
    values.some((value) => isTaken({ [name]: { [test]: tests[test]!(value) } }, fields)),
  );
  const orNull = isTaken({ [name]: null }, fields) ? ' | null' : '';
  return `Test<${valueText(field)}${orNull}, ${setName(possible, sets)}>`;
}

/** Of several shapes, because some fields take only what can be theirs. */
function valuesOf(field: FilterField): readonly unknown[] {
  if (field.type === 'reference')
    return field.ways.map(({ by, pattern, words = {} }) => {
      if (by === 'word') return Object.keys(words)[0];
      return pattern === undefined ? sampleNames[by] : idLike(pattern);
    });
  const { type, values, pattern } = field;
  if (values) return values.slice(0, 1);
  if (pattern !== undefined) return [idLike(pattern)];
  if (type === 'number') return [1];
  if (type === 'boolean') return [true];
  return ['2026-11-20T12:00:00Z', '2026-11-20', 'x'];
}

const sampleNames = { id: 'x', key: 'ENG', identifier: 'ENG-1', name: 'x' } as const;

const idLike = (pattern: string): string => {
  const ids = ['00000000-0000-0000-0000-000000000000', `${/[a-z]{3}_/.exec(pattern)?.[0]}${'0'.repeat(26)}`];
  return ids.find((id) => new RegExp(pattern).test(id)) ?? 'x';
};

function valueText(field: FilterField): string {
  if (field.type === 'reference') return 'string';
  const { type, values, aliases = {} } = field;
  if (values) return [...values, ...Object.keys(aliases)].map((word) => JSON.stringify(word)).join(' | ');
  return type === 'number' || type === 'boolean' ? type : 'string';
}

function isTaken(filter: unknown, fields: FilterFields): boolean {
  try {
    parseFilter(filter, fields);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** The name of a set of tests, by what is special in it. */
function setName(possible: readonly string[], sets: Map<string, string>): string {
  const set = possible.map((test) => JSON.stringify(test)).join(' | ');
  const ordered = possible.includes('gt') ? 'Ordered' : '';
  const name = `${ordered}${possible.includes('contains') ? 'Text' : 'Value'}Tests`;
  const known = [...sets].find(([, other]) => other === name);
  if (known && known[0] !== set) throw new Error(`${name} are two sets: ${known[0]}, and ${set}.`);
  sets.set(set, name);
  return name;
}
