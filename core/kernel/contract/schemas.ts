// Public schemas of a contract, built once for each contract: the response, the page, and the bodies of
// creation and update.
import {
  Type,
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
} from 'typebox';
import {
  alsoCalled,
  Closed,
  described,
  idOf,
  namedSchema,
  nullable,
  pageOf,
  time,
  version,
  writes,
  type WrittenFields,
} from '../../platform/lib/schema.ts';
import { isRestorable, type Contract, type Created, type Patch, type EntityResponse } from './contract.ts';
import { idOrName, type Field, type FieldOptions, type Reference, type ReferenceTarget } from './field.ts';

export interface Schemas<C extends Contract> {
  readonly response: TUnsafe<EntityResponse<C>>;
  readonly create: TUnsafe<Created<C>>;
  readonly update: TUnsafe<Patch<C>>;
  readonly page: TSchema;
}

const deletedAt = {
  ...time,
  description: 'Time of deletion, ISO 8601, UTC; null if the object is not deleted.',
};
const cache = new WeakMap<Contract, Schemas<Contract>>();

export function schemasOf<C extends Contract>(contract: C): Schemas<C> {
  const known = cache.get(contract) ?? makeSchemas(contract);
  cache.set(contract, known);
  // Types and schemas derive from the same fields, which the compiler cannot verify.
  return known as Schemas<C>;
}

function makeSchemas(contract: Contract): Schemas<Contract> {
  const fields = Object.entries(contract.fields);
  const properties = {
    id: idOf(contract.id),
    ...Object.fromEntries(fields.map(([name, field]) => [name, orNull(field, field.response)])),
    version,
    createdAt: described(time, 'Time of creation.'),
    updatedAt: described(time, 'Time of the last change.'),
    ...(isRestorable(contract) ? { deletedAt: nullable(deletedAt) } : {}),
    ...Object.fromEntries([...htmlFieldsOf(contract)].map(([name, field]) => [name, htmlOf(field)])),
  };
  const response = namedSchema(contract.title, Closed(properties, { description: contract.doc }));
  return {
    response: Type.Unsafe(response),
    create: namedSchema(`${contract.title}Create`, Type.Unsafe(Closed(inputsOf(contract, 'create')))),
    update: namedSchema(`${contract.title}Update`, Type.Unsafe(Closed(inputsOf(contract, 'update')))),
    page: pageOf(response),
  };
}

export function createBodyWith<C extends Contract, P extends TProperties>(
  contract: C,
  extra: P,
): TUnsafe<Created<C> & Static<TObject<P>>> {
  return Type.Unsafe(Closed({ ...extra, ...inputsOf(contract, 'create') }));
}

export function updateBodyWith<C extends Contract, P extends TProperties>(
  contract: C,
  extra: P,
): TUnsafe<Patch<C> & Static<TObject<P>>> {
  return Type.Unsafe(Closed({ ...inputsOf(contract, 'update'), ...extra }));
}

function inputsOf(contract: Contract, at: 'create' | 'update'): Record<string, TSchema> {
  const inputs: Record<string, TSchema> = {};
  for (const [name, field] of writableAt(contract, at)) {
    const schema = orNull(field, field.input);
    const key = inputName(name, field);
    const isRequired = at === 'create' && field.options.required;
    inputs[key] = isRequired ? schema : Type.Optional(schema);
    if (isReference(field) && key !== name && !isRequired)
      inputs[name] = otherName(key, orNull(field, idOrName(field.to)));
  }
  return inputs;
}

/** Returns the schema of an alias of a property; the operation reads only the property `of`. */
export function otherName<S extends TSchema>(of: string, schema: S): TOptional<S> {
  const marks = { [alsoCalled]: of, [writes]: [of] satisfies WrittenFields };
  const { description = '' } = schema as { description?: string };
  const other: TSchema = { ...schema, description: `Another name for \`${of}\`. ${description}`, ...marks };
  return Type.Optional(other as S) as TOptional<S>;
}

type FieldPair = readonly [name: string, field: Field];
const writable = new WeakMap<Contract, Readonly<Record<'create' | 'update', readonly FieldPair[]>>>();

/** Cached, because every write needs the result. */
export function writableAt(contract: Contract, at: 'create' | 'update'): readonly FieldPair[] {
  const known = writable.get(contract);
  if (known) return known[at];
  const fields = Object.entries(contract.fields);
  const fieldsAt = (when: 'create' | 'update') =>
    fields.filter(([, { options }]) => (options.write ?? when) === when);
  const both = { create: fieldsAt('create'), update: fieldsAt('update') };
  writable.set(contract, both);
  return both[at];
}

export function isReference(
  field: Field,
): field is Reference<ReferenceTarget, string, unknown, FieldOptions> {
  return field.type === 'reference';
}

export function inputName(name: string, field: Field): string {
  return isReference(field) && field.by === 'id' ? `${name}Id` : name;
}

export function storedName(name: string, field: Field): string {
  return isReference(field) ? `${name}Id` : name;
}

/** Returns the names of the three stored properties of an actor. */
export function actorParts(name: string): string[] {
  return ['Kind', 'Id', 'Name'].map((part) => `${name}${part}`);
}

/** Returns the properties of the response that do not depend on `include`. */
export function responseProperties(contract: Contract): TObject['properties'] {
  const html = htmlFieldsOf(contract);
  const { properties } = schemasOf(contract).response as TSchema as TObject;
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !html.has(name)));
}

/** Maps the name of each HTML property, which `include` requests, to the name of the Markdown field. */
export function htmlFieldsOf({ fields }: Contract): ReadonlyMap<string, string> {
  const names = Object.keys(fields).filter((name) => fields[name]!.options.html);
  return new Map(names.map((name) => [`${name}Html`, name]));
}

function htmlOf(field: string): TSchema {
  const description = `\`${field}\` as safe HTML; present if \`include\` requests it.`;
  return Type.Optional(Type.String({ description }));
}

function orNull(field: Field, schema: TSchema): TSchema {
  const dated = field.options.since === undefined ? schema : { ...schema, 'x-since': field.options.since };
  return field.options.nullable ? nullable(dated) : dated;
}
