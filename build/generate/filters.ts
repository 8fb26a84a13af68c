// Generates the types of filters. It probes the filter parser for the tests of each field and their operands, so that the parser
// accepts everything that the types allow.
import type { TObject } from 'typebox';
import { contracts, eventsOf } from '../../core/features/contracts.ts';
import { ApiError } from '../../core/platform/lib/errors/errors.ts';
import { parseFilter, type FilterField, type FilterFields } from '../../core/platform/lib/filter/filter.ts';
import { addedFieldsOf, filterFieldsOf, sentEvents } from '../../core/app/event-schemas.ts';
import type { Library } from './library.ts';

/** Operand of each test, made from a value of the field. */
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

/**
 * Returns a name from the contract of the event's object, or from the shape of the data if there is no
 * contract.
 */
function filterName(type: string, data: TObject): string {
  const contract = contracts.find(({ events }) => eventsOf(events).includes(type));
  const { 'x-name': shape } = data as { 'x-name'?: string };
  return `${contract?.title ?? shape}Filter`;
}

/** Generates the filters of the objects in events, of each event type, and of any event. */
export function writeFilters(library: Library, file: string): void {
  const sets = new Map<string, string>();
  const names = new Map(
    sentEvents().map(({ type, envelope }) => {
      const { data } = (envelope as TObject).properties;
      return [type, filterName(type, data as TObject)] as const;
    }),
  );
  for (const name of new Set(names.values())) {
    const [type] = [...names].find(([, other]) => other === name)!;
    library.add(file, name, filterText(name, type, sets));
  }
  for (const [set, name] of sets) library.add(file, name, `type ${name} = ${set};`);
  const members = [...names].map(([type, name]) => `readonly '${type}': ${name};`);
  library.add(
    file,
    'EventFilters',
    `/** Filters of subscriptions, by event type. */
    export interface EventFilters {\n${members.join('\n')}\n}`,
  );
  library.add(
    file,
    'EventFilter',
    `/** Filter of a subscription to any event types. */
    export type EventFilter = EventFilters[keyof EventFilters];`,
  );
}

function filterText(name: string, type: string, sets: Map<string, string>): string {
  const fields = filterFieldsOf(type);
  const joints = [
    `readonly and?: readonly ${name}[] | undefined;`,
    `readonly or?: readonly ${name}[] | undefined;`,
    `readonly not?: ${name} | undefined;`,
  ];
  const members = Object.entries(fields).map(
    ([field, how]) => `readonly ${field}?: ${fieldText(field, how, fields, sets)} | undefined;`,
  );
  return `/** All conditions must hold; a value alone means \`eq\`, a list of values \`in\`. */
    export interface ${name} {\n${[...joints, ...members, ...addedText(type, sets)].join('\n')}\n}`;
}

/**
 * Adds the custom fields of a workspace: any name below one field, with any test, because only the workspace
 * defines their types.
 */
function addedText(type: string, sets: Map<string, string>): string[] {
  const under = addedFieldsOf(type);
  if (under === null) return [];
  const value = 'string | number | boolean | null';
  return [
    `readonly [part: \`${under}.\${string}\`]: Test<${value}, ${setName(Object.keys(tests), sets)}> | undefined;`,
  ];
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

/** Returns sample values of several shapes, because some fields accept only their own possible values. */
function valuesOf(field: FilterField): readonly unknown[] {
  if (field.type === 'reference')
    return field.ways.map(({ by, pattern, words = {} }) => {
      if (by === 'word' || by === 'turn') return Object.keys(words)[0];
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
  const ids = [
    '00000000-0000-0000-0000-000000000000',
    `${/[a-z]{3}(?=[|_])/.exec(pattern)?.[0]}_${'0'.repeat(26)}`,
  ];
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

/**
 * Adds a set of tests under a name made from its distinguishing members.
 * @returns the name
 * @throws Error if another set has the name
 */
function setName(possible: readonly string[], sets: Map<string, string>): string {
  const set = possible.map((test) => JSON.stringify(test)).join(' | ');
  const ordered = possible.includes('gt') ? 'Ordered' : '';
  const name = `${ordered}${possible.includes('contains') ? 'Text' : 'Value'}Tests`;
  const known = [...sets].find(([, other]) => other === name);
  if (known && known[0] !== set) throw new Error(`${name} names two sets: ${known[0]} and ${set}.`);
  sets.set(set, name);
  return name;
}
