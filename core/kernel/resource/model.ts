// Derives the model of a resource from its contract: the columns of its fields, its representation, and the
// events of its changes. The column of a field has its name in snake case.
import { type TObject, Type } from 'typebox';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { inputForm } from '../../platform/lib/schema.ts';
import { safeHtml } from '../../platform/lib/text/markdown.ts';
import { didYouMean, snake } from '../../platform/lib/text/words.ts';
import type { Entity } from '../changes/change.ts';
import { defineModel, type EntityModel, type ModelOptions, type ModelSpec } from '../changes/model.ts';
import { type Column, flag, isoTime, json, plain } from '../changes/operations.ts';
import type { Directory, View } from '../context.ts';
import { type Contract, type EntityResponse, isRestorable, type StoredEntity } from '../contract/contract.ts';
import type { Field, FieldOptions, Reference, ReferenceTarget } from '../contract/field.ts';
import { actorParts, htmlFieldsOf, isReference, storedName } from '../contract/schemas.ts';
import type { EventType } from '../events/catalogue.ts';
import { rowAsItWas } from './as-of/past.ts';
import { entriesOf } from './directory.ts';

/** Columns in addition to those of the fields in the contract. */
type ExtraColumns = Readonly<Record<string, Column>>;
type Beside<X> = { readonly [K in keyof X]: X[K] extends Column<infer T> ? T : never };

/** Stored object of a resource, with the additional columns. */
export type EntityOf<C, X = unknown> = StoredEntity<C> & Beside<X> & Entity;

type Wire = Readonly<Record<string, unknown>>;

/** Parts of a model that do not follow from the contract. */
interface Storage<C extends Contract, X extends ExtraColumns, E extends Entity> {
  /** Name of the table; default the path of the contract. */
  readonly table?: string;
  readonly stored?: X;
  /** Columns of fields that need a custom mapping, by the name of the field in the row. */
  readonly columns?: Readonly<Record<string, Column>>;
  /** Representation of computed fields. */
  readonly shows?: {
    readonly [K in keyof EntityResponse<C>]?: (entity: E, view: View) => EntityResponse<C>[K];
  };
  /** Whole representation, if written by hand for speed or shape. */
  readonly toResponse?: (entity: E, view: View) => EntityResponse<C>;
  /** Representation in events, if it shows less than the API. */
  readonly toEventData?: (entity: E, rendered: EntityResponse<C>) => EntityResponse<C>;
  /** Values of a past row that do not follow from the contract. */
  readonly asItWas?: (was: Wire, directory: Directory) => Partial<E>;
  readonly events?: ModelSpec<E, Wire>['events'];
  readonly special?: ModelOptions<E>;
}

export function modelOf<C extends Contract, const X extends ExtraColumns = Record<never, never>>(
  contract: C,
  storage: Storage<C, X, EntityOf<C, X>> = {},
): EntityModel<EntityOf<C, X>, EntityResponse<C>> {
  type E = EntityOf<C, X>;
  const toResponse = (storage.toResponse ?? toResponseOf<E>(contract, storage.shows ?? {})) as ModelSpec<
    E,
    Wire
  >['toResponse'];
  const { toEventData } = storage;
  const spec: ModelSpec<E, Wire> = {
    name: contract.name,
    table: storage.table ?? contract.path,
    fields: columnsOf(contract, storage) as ModelSpec<E, Wire>['fields'],
    toResponse,
    // A past row cannot be derived from events that show less than the API.
    ...(!toEventData && { asItWas: rowAsItWas<E>(contract, storage.asItWas) }),
    ...(toEventData && {
      toEventData: (entity, view) => toEventData(entity, toResponse(entity, view) as EntityResponse<C>),
    }),
    events: storage.events ?? ((before, after) => [plainEvent(contract, before, after)]),
    ...teamOf<E>(contract),
    ...aliasOf<E>(contract),
    ...storage.special,
  };
  if (contract.ofTeam && !spec.team)
    throw new Error(`Objects of ${contract.name} belong to a team: define it by a field or by \`team\`.`);
  return defineModel(spec) as EntityModel<E, EntityResponse<C>>;
}

/** An object is also found by its alias field, which has a unique index. */
function aliasOf<E extends Entity>({ alias }: Contract): ModelOptions<E> {
  if (!alias?.field) return {};
  const column = snake(alias.field);
  const isAlias = new RegExp(alias.pattern);
  const values = (name: string) => (isAlias.test(name) ? { [column]: name.toUpperCase() } : undefined);
  return { alias: { columns: [column], values } };
}

/** An object that refers to a team belongs to that team. */
function teamOf<E extends Entity>({ ofTeam, fields }: Contract): ModelOptions<E> {
  const { team } = fields;
  if (!ofTeam || !team || !isReference(team)) return {};
  const key = storedName('team', team);
  const column = snake(key);
  if (!team.options.nullable)
    return {
      team: { of: (entity) => String(entity[key as keyof E]), isIn: (list) => `${column} IN (${list})` },
    };
  return {
    team: {
      of: (entity) => [entity[key as keyof E] as string | null].filter((id) => id !== null),
      isIn: (list) => `(${column} IS NULL OR ${column} IN (${list}))`,
    },
  };
}

function columnsOf(
  contract: Contract,
  { stored = {}, columns = {} }: { stored?: ExtraColumns; columns?: Readonly<Record<string, Column>> },
): Record<string, Column> {
  const all: Record<string, Column> = {};
  for (const [name, field] of Object.entries(contract.fields)) {
    if (field.options.computed) continue;
    if (field.type === 'actor') for (const stored of actorParts(name)) all[stored] = plain(snake(stored));
    else all[storedName(name, field)] = columnOf(storedName(name, field), field);
  }
  const deleted = contract.retainsDeleted ? { deletedAt: plain('deleted_at') } : {};
  const times = { createdAt: plain('created_at'), updatedAt: plain('updated_at'), ...deleted };
  return { ...all, ...stored, ...columns, ...times };
}

function columnOf(name: string, { type }: Field): Column {
  if (type === 'flag') return flag(snake(name));
  if (type === 'json') return json(`${snake(name)}_json`);
  return plain(snake(name));
}

function plainEvent({ name, events }: Contract, before: Entity | null, after: Entity): EventType {
  const type = !before
    ? events.created
    : deletedAtOf(before) === deletedAtOf(after)
      ? events.updated
      : deletedAtOf(after) === null
        ? (events.restored ?? events.created)
        : events.deleted;
  if (type === undefined) throw new Error(`The contract of ${name} names no event for this change.`);
  return type as EventType;
}

const deletedAtOf = (entity: Entity & { readonly deletedAt?: number | null }): number | null =>
  entity.deletedAt ?? null;

/** Selects the rendering function of each field once, instead of for each object. */
function toResponseOf<E extends Entity>(
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

type ResponseFields = Readonly<Record<string, unknown>>;

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
    const all: Record<string, unknown> = { ...(response as ResponseFields) };
    for (const name of names) all[name] = safeHtml(String(all[fields.get(name)!] ?? ''));
    return all as typeof response;
  };
}
