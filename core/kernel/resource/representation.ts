// Representation of an object, derived from the fields of its contract, and the HTML of its Markdown fields.
import { type TObject, Type } from 'typebox';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { inputForm } from '../../platform/lib/schema.ts';
import { safeHtml } from '../../platform/lib/text/markdown.ts';
import { didYouMean } from '../../platform/lib/text/words.ts';
import type { Entity } from '../changes/change.ts';
import { isoTime } from '../changes/operations.ts';
import type { View } from '../context.ts';
import { type Contract, isRestorable } from '../contract/contract.ts';
import type { Field, FieldOptions, Reference, ReferenceTarget } from '../contract/field.ts';
import { htmlFieldsOf, isReference, storedName } from '../contract/schemas.ts';
import { entriesOf } from './directory.ts';

type Wire = Readonly<Record<string, unknown>>;

export const deletedAtOf = (entity: Entity & { readonly deletedAt?: number | null }): number | null =>
  entity.deletedAt ?? null;

/** Selects the rendering function of each field once, instead of for each object. */
export function toResponseOf<E extends Entity>(
  contract: Contract,
  shows: Readonly<Record<string, ((entity: E, view: View) => unknown) | undefined>>,
): (entity: E, view: View) => Wire {
  const names = Object.keys(contract.fields);
  const showers = Object.entries(contract.fields).map(
    ([name, field]) => shows[name] ?? showerOf<E>(contract, name, field),
  );
  // A copy of a full template has all properties from the start, which is cheaper than adding them one by
  // one.
  const empty = Object.fromEntries(
    ['id', ...names, 'version', 'createdAt', 'updatedAt'].map((name) => [name, null as unknown]),
  );
  const restorable = isRestorable(contract);
  return (entity, view) => {
    const rendered = { ...empty };
    rendered.id = entity.id;
    for (let i = 0; i < names.length; i++) rendered[names[i]!] = showers[i]!(entity, view);
    const { createdAt, updatedAt } = entity as E & { createdAt: number; updatedAt: number };
    rendered.version = entity.version;
    rendered.createdAt = isoTime(createdAt);
    rendered.updatedAt = isoTime(updatedAt);
    if (restorable) rendered.deletedAt = isoTime(deletedAtOf(entity));
    return rendered;
  };
}

function showerOf<E extends Entity>(
  contract: Contract,
  name: string,
  field: Field,
): (entity: E, view: View) => unknown {
  if (field.options.isPage) return ({ id }, { baseUrl }) => `${baseUrl}/${contract.path}/${id}`;
  if (field.options.computed)
    throw new Error(`${contract.name}.${name} is computed: define it in \`shows\`.`);
  const valueOf = (entity: E, key: string): unknown => entity[key as keyof E];
  const key = storedName(name, field);
  if (field.type === 'time') return (entity) => isoTime(valueOf(entity, key) as number | null);
  if (field.type === 'actor')
    return (entity) => {
      const id = valueOf(entity, `${name}Id`);
      return id === null
        ? null
        : { kind: valueOf(entity, `${name}Kind`), id, name: valueOf(entity, `${name}Name`) };
    };
  if (!isReference(field)) return (entity) => valueOf(entity, key);
  return referenceShower(contract, name, field);
}

function referenceShower<E extends Entity>(
  contract: Contract,
  name: string,
  field: Reference<ReferenceTarget, string, unknown, FieldOptions>,
): (entity: E, view: View) => unknown {
  const { to, by } = field;
  const key = storedName(name, field);
  const missing = field.options.nullable ? null : '';
  const parts = Object.keys((field.response as Partial<TObject>).properties ?? {}).filter(
    (part) => part !== 'id',
  );
  const rendered = by === 'id' ? parts : [by];
  const unknown = rendered.filter((part) => !to.directory?.entryFields.includes(part));
  if (unknown.length > 0)
    throw new Error(
      `${contract.name}.${name} shows ${unknown.join(', ')} of ${to.name}, which the directory does not contain.`,
    );
  return (entity, { directory }) => {
    const id: unknown = entity[key as keyof E];
    if (typeof id !== 'string') return null;
    const known = entriesOf(directory, to).get(id);
    if (by !== 'id') return known?.[by] ?? missing;
    return { id, ...Object.fromEntries(parts.map((part) => [part, known?.[part] ?? ''])) };
  };
}

/** Returns the parameter of the operations that list and get objects. */
export function htmlQueryOf(contract: Contract): TObject['properties'] {
  const names = [...htmlFieldsOf(contract).keys()];
  if (names.length === 0) return {};
  const description = `Optional fields to include, comma-separated: ${names.join(', ')}.`;
  return { include: Type.Optional(Type.String({ maxLength: 100, description, [inputForm]: 'list' })) };
}

/**
 * Returns a function that adds the HTML of requested Markdown fields, such as `include=bodyHtml` for objects
 * with a `body`. Must be called before anything is read.
 * @throws ApiError validation_failed
 */
export function includedHtml(
  contract: Contract,
  { include }: { readonly include?: unknown },
): <S>(response: S) => S {
  if (include === undefined) return (response) => response;
  const fields = htmlFieldsOf(contract);
  const names = String(include).split(',');
  const unknown = names.find((name) => !fields.has(name));
  if (unknown !== undefined) {
    const known = [...fields.keys()];
    const fix = `${unknown} cannot be included.${didYouMean(unknown, known)} Choose from ${known.join(', ')}.`;
    throw invalidField('include', 'invalid_enum', fix);
  }
  return (response) => {
    const all: Record<string, unknown> = { ...(response as Wire) };
    for (const name of names) all[name] = safeHtml(String(all[fields.get(name)!] ?? ''));
    return all as typeof response;
  };
}
