// Public schemas of a contract: its response, and the bodies of its creation and update. Built once for each contract.
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
} from '../lib/schema.ts';
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
  // The types follow from the same fields as the schemas, field by field, which the compiler cannot verify.
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

/** Returns the body of a creation with properties beside the writable fields. */
export function createBodyWith<C extends Contract, P extends TProperties>(
  contract: C,
  extra: P,
): TUnsafe<Created<C> & Static<TObject<P>>> {
  return Type.Unsafe(Closed({ ...extra, ...inputsOf(contract, 'create') }));
}

/** Returns the body of an update with properties beside the writable fields. */
export function updateBodyWith<C extends Contract, P extends TProperties>(
  contract: C,
  extra: P,
): TUnsafe<Patch<C> & Static<TObject<P>>> {
  return Type.Unsafe(Closed({ ...inputsOf(contract, 'update'), ...extra }));
}

/** Returns the properties of a body, by their names in requests. */
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

/** Returns another name of a property in the same body; the operation uses the original name. */
export function otherName<S extends TSchema>(of: string, schema: S): TOptional<S> {
  const marks = { [alsoCalled]: of, [writes]: [of] satisfies WrittenFields };
  const { description = '' } = schema as { description?: string };
  const other: TSchema = { ...schema, description: `Another name for \`${of}\`. ${description}`, ...marks };
  return Type.Optional(other as S) as TOptional<S>;
}

type FieldPair = readonly [name: string, field: Field];
const writable = new WeakMap<Contract, Readonly<Record<'create' | 'update', readonly FieldPair[]>>>();

/** Cached for each contract, because every write needs it. */
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

/** Returns the name of a field in requests. */
export function inputName(name: string, field: Field): string {
  return isReference(field) && field.by === 'id' ? `${name}Id` : name;
}

/** Returns the name of a field in the row. */
export function storedName(name: string, field: Field): string {
  return isReference(field) ? `${name}Id` : name;
}

/** Returns the names of an actor's parts in the row. */
export function actorParts(name: string): string[] {
  return ['Kind', 'Id', 'Name'].map((part) => `${name}${part}`);
}

/** Returns the properties that every response has, by name. */
export function responseProperties(contract: Contract): TObject['properties'] {
  const html = htmlFieldsOf(contract);
  const { properties } = schemasOf(contract).response as TSchema as TObject;
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !html.has(name)));
}

/** Returns the HTML properties that are available on request: name → Markdown field. */
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
