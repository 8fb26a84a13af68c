// Fields that event subscriptions of a resource can filter by: each comparable value or list of values in the
// event data, and the filter fields of the list operation.
import type { TObject, TSchema } from 'typebox';
import type { Contract } from '../../contract/contract.ts';
import type { Field } from '../../contract/field.ts';
import { contracts } from '../../../features/contracts.ts';
import { member } from '../../../features/people/contract.ts';
import type {
  FilterField,
  FilterFields,
  FilterWay,
  ReferenceField,
} from '../../../platform/lib/filter/filter.ts';
import { date, idPattern } from '../../../platform/lib/schema.ts';
import { team } from '../../../features/teams/contract.ts';
import { filterFieldOf } from './filter.ts';
import {
  createEventFiltering,
  type EventFiltering,
  type Filtering,
  type FindMentioned,
} from './filtering.ts';

/**
 * @param listed filters of the list operation, if any
 * @param find finds named objects that are not in the directory
 */
export function eventFilteringOf(
  contract: Contract,
  listed: Filtering | undefined,
  find: FindMentioned,
): EventFiltering {
  const { fields = {}, added } = listed ?? {};
  const emitted = emittedFieldsOf(contract);
  const all = {
    ...emitted,
    ...fields,
    ...eitherId(emitted, fields),
    ...teamThroughIssue(contract, fields['team']),
  };
  return createEventFiltering({ fields: all, added, find });
}

/**
 * Events of subscribers are filtered like events of issues, but contain ids of subscribers, so both id
 * patterns are valid.
 */
function eitherId(...of: readonly FilterFields[]): FilterFields {
  const patterns = of.flatMap(({ id }) => (id?.type === 'text' ? (id.pattern ?? []) : []));
  return { id: { type: 'text', path: 'id', pattern: [...new Set(patterns)].join('|') } };
}

function emittedFieldsOf(contract: Contract): FilterFields {
  const own = Object.entries(contract.fields).filter(([, { options }]) => isEmitted(options));
  return {
    id: { type: 'text', path: 'id', pattern: idPattern(contract.id) },
    ...comparable(own.map(([name, field]) => [name, emittedField(name, field)])),
    createdAt: { type: 'time', path: 'createdAt' },
    updatedAt: { type: 'time', path: 'updatedAt' },
  };
}

/** Returns the filter fields of events whose data is not the object of a contract. */
export function fieldsOfShape({ properties }: TObject): FilterFields {
  return comparable(Object.entries(properties).map(([name, schema]) => [name, fieldOfSchema(name, schema)]));
}

function comparable(all: readonly (readonly [string, FilterField | null])[]): FilterFields {
  return Object.fromEntries(all.flatMap(([name, field]) => (field ? [[name, field]] : [])));
}

/** Excludes unlogged fields by default, because the log may lack their value or contain an outdated one. */
function isEmitted({ filter, unlogged }: Field['options']): boolean {
  return filter === undefined ? !unlogged : filter !== false;
}

function emittedField(name: string, field: Field): FilterField | null {
  const { type, response, options } = field;
  if (type === 'json' || type === 'text') return fieldOfSchema(name, response, options.nullable);
  return filterFieldOf({ name, field, by: typeof options.filter === 'string' ? options.filter : 'id' });
}

/** Schema of a value, without null. */
interface Plain {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly format?: string;
  readonly items?: TSchema;
  readonly properties?: TObject['properties'];
}

/**
 * @returns null for a value that cannot be compared as a whole: an object without an id, or of arbitrary
 * shape
 */
function fieldOfSchema(path: string, schema: TSchema, isNullable = false): FilterField | null {
  const { plain, orNull } = withoutNull(schema);
  const nullable = isNullable || orNull;
  switch (plain.type) {
    case 'array':
      return plain.items ? fieldOfSchema(`${path}[]`, plain.items, true) : null;
    case 'object':
      return referred(path, plain.properties ?? {}, nullable);
    case 'number':
    case 'integer':
      return { type: 'number', path, ...(plain.type === 'integer' ? { integer: true } : {}) };
    case 'boolean':
      return { type: 'boolean', path };
    default:
      return textOf(path, plain);
  }
}

function withoutNull(schema: TSchema): { plain: Plain; orNull: boolean } {
  const { anyOf, ...one } = schema as { anyOf?: readonly Plain[]; type?: string | string[] } & Plain;
  if (anyOf) {
    const [plain = {}, ...others] = anyOf.filter(({ type }) => type !== 'null');
    return { plain: others.length === 0 ? plain : {}, orNull: others.length + 1 < anyOf.length };
  }
  const types = [one.type ?? (one.enum ? 'string' : [])].flat();
  const [type] = types.filter((name) => name !== 'null');
  const words = one.enum?.filter((word) => word !== null);
  const plain = { ...one, ...(words && { enum: words }), ...(type !== undefined && { type }) };
  return { plain: plain as Plain, orNull: types.includes('null') || words?.length !== one.enum?.length };
}

const { pattern: dayPattern } = date as { pattern?: string };

function textOf(path: string, { type, enum: values, pattern, format }: Plain): FilterField | null {
  if (type !== 'string') return null;
  if (values) return { type: 'text', path, values };
  if (format === 'date-time') return { type: 'time', path };
  if (pattern === dayPattern) return { type: 'day', path };
  return pattern !== undefined && ownerOf(pattern) ? { type: 'text', path, pattern } : { type: 'text', path };
}

/**
 * Skips contracts whose ids are UUIDs, because these share one pattern. A pattern of several prefixes, such as
 * `^(plg|atm)_`, belongs to the contract of the first one.
 */
function ownerOf(pattern: string | undefined): Contract | undefined {
  const [, first] = /^\^\((\w+)\|/.exec(pattern ?? '') ?? [];
  return contracts.find(({ id }) => id !== null && (id === first || idPattern(id) === pattern));
}

/** Returns a reference to another object, by its id and by its names in the data. */
function referred(
  at: string,
  { id, identifier, name }: TObject['properties'],
  nullable: boolean,
): ReferenceField | null {
  const { pattern } = (id ?? {}) as { pattern?: string };
  const to = ownerOf(pattern);
  if (!to || pattern === undefined) return null;
  const path = `${at}.id`;
  const isFoundByName = name !== undefined && to.directory?.entryFields.includes('name');
  const byName = (by: 'identifier' | 'name'): FilterWay => ({ by, path: `${at}.${by}`, property: by });
  return {
    type: 'reference',
    path,
    to,
    ways: [
      { by: 'id', path, pattern, property: 'id' },
      ...(identifier ? [byName('identifier')] : []),
      ...(isFoundByName ? [byName('name')] : []),
    ],
    ...(nullable ? { nullable: true } : {}),
    ...(to.name === member.name ? { isPerson: true } : {}),
  };
}

/**
 * Adds the field `team` to parts of an issue, read from the identifier of the issue, which begins with the
 * key of the team.
 */
function teamThroughIssue({ fields }: Contract, listed: FilterField | undefined): FilterFields {
  const { issue } = fields;
  if (!issue || fields['team'] || !('identifier' in (withoutNull(issue.response).plain.properties ?? {})))
    return {};
  const path = 'issue.identifier';
  const key: FilterWay = { by: 'key', path, property: 'key', upTo: '-' };
  const nullable = issue.options.nullable ? { nullable: true as const } : {};
  if (listed?.type !== 'reference')
    return { team: { type: 'reference', path, to: team, ways: [key], ...nullable } };
  return { team: { ...listed, path, ways: listed.ways.map((way) => (way.by === 'key' ? key : way)) } };
}
