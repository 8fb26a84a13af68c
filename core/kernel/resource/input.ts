// Converts the body of a request to the values of a row, and checks what the schema cannot: that dates are
// valid, texts are short enough in bytes, and referenced objects exist.
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { isDay, readTime } from '../../platform/lib/time/time.ts';
import type { Context, Directory } from '../context.ts';
import type { Contract } from '../contract/contract.ts';
import type { Field, ReferenceTarget } from '../contract/field.ts';
import { actorParts, inputName, isReference, storedName, writableAt } from '../contract/schemas.ts';
import type { Actor } from '../events/event.ts';
import { entriesOf } from './directory.ts';
import { idsByName } from './names/names.ts';

type BodyValues = Readonly<Record<string, unknown>>;

/**
 * Returns the values of a body by the names of the row.
 * @param at prefix of paths in errors: `issues.3.`
 * @throws ApiError validation_failed
 */
export function storedValuesOf(
  { directory }: Context,
  contract: Contract,
  on: 'create' | 'update',
  body: BodyValues,
  at = '',
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, field] of writableAt(contract, on)) {
    const value = body[inputName(name, field)];
    if (value === undefined) continue;
    values[storedName(name, field)] =
      value === null ? null : checked(directory, field, value, `${at}${inputName(name, field)}`);
  }
  return values;
}

/** Returns the values of fields that a creation omits. */
export function defaultsOf(contract: Contract): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(contract.fields)) {
    const { required, computed, nullable, default: value = null } = field.options;
    if (field.type === 'actor') {
      if (nullable) for (const part of actorParts(name)) values[part] = null;
    } else if (!required && !computed) values[storedName(name, field)] = value;
  }
  if (contract.retainsDeleted) values.deletedAt = null;
  return values;
}

/** @throws ApiError validation_failed */
function checked(directory: Directory, field: Field, value: unknown, path: string): unknown {
  if (isReference(field)) return idByName(directory, field.to, value, path, field.by);
  if (field.type === 'day' && !isDay(String(value)))
    throw invalidField(path, 'invalid_format', {
      why: `${String(value)} is not a valid date.`,
      fix: 'Give a date as YYYY-MM-DD.',
    });
  if (field.type === 'time') return readTime(String(value), path);
  if (field.type === 'choice') return aliased(field, String(value));
  if (field.type === 'markdown') requireBytes(field, String(value), path);
  if (field.type === 'json') return filled(field, value);
  return value;
}

/** Adds the defaults of omitted parts, as defined in the schema of the response. */
function filled({ response }: Field, value: unknown): unknown {
  const { properties } = response as { properties?: Readonly<Record<string, { default?: unknown }>> };
  if (!properties || typeof value !== 'object') return value;
  const parts = Object.entries(properties).filter(([, part]) => part.default !== undefined);
  return { ...Object.fromEntries(parts.map(([name, part]) => [name, part.default])), ...value };
}

function aliased({ options }: Field, value: string): string {
  const { aliases = {} } = options as { aliases?: Readonly<Record<string, string>> };
  return aliases[value] ?? value;
}

function requireBytes({ options }: Field, text: string, path: string): void {
  const { bytesMax } = options as { bytesMax?: number };
  if (bytesMax !== undefined && Buffer.byteLength(text) > bytesMax)
    throw invalidField(path, 'too_long', `Give at most ${bytesMax / 1024} KiB of text.`);
}

/** Returns the id of the referenced object. @throws ApiError validation_failed (not_found) */
export function idByName(
  directory: Directory,
  to: ReferenceTarget,
  value: unknown,
  path: string,
  by = 'id',
): string {
  const entries = entriesOf(directory, to);
  const name = String(value);
  const property = to.alias?.field ?? by;
  const ids = property === 'id' || entries.has(name) ? [name] : idsByName(entries, property, name);
  const known = ids.map((id) => entries.get(id)).find((entry) => entry && !entry.removed);
  if (known) return known.id;
  throw invalidField(path, 'not_found', {
    why: `There is no ${to.name} ${String(value)}.`,
    fix: `Name an existing ${to.name}.`,
  });
}

type StoredAuthor<Name extends string> = { readonly [K in `${Name}Kind`]: 'user' | 'plugin' | 'system' } & {
  readonly [K in `${Name}Id` | `${Name}Name`]: string;
};

interface AuthorSource {
  readonly actor: Actor;
  readonly directory: Directory;
}

/**
 * Returns an author as an `actor` field stores it: for a key, the member who owns the key, with the current
 * name.
 * @param field name of the field in the contract: `creator`, `author`
 */
export function authorOf<const Name extends string>(
  { actor, directory }: AuthorSource,
  field: Name,
): StoredAuthor<Name> {
  const author = {
    [`${field}Kind`]: actor.kind === 'plugin' || actor.kind === 'system' ? actor.kind : 'user',
    [`${field}Id`]: actor.memberId ?? actor.id,
    [`${field}Name`]: (actor.memberId && directory.members.get(actor.memberId)?.name) || actor.name,
  };
  // The compiler types a computed property name as `string`.
  return author as StoredAuthor<Name>;
}
