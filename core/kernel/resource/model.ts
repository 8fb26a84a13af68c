// Derives the model of a resource from its contract: the columns of its fields, its representation, and the
// events of its changes. The column of a field has its name in snake case.
import { snake } from '../../platform/lib/text/words.ts';
import type { Entity } from '../changes/change.ts';
import { findingOf, readingOf } from '../changes/find.ts';
import { changesOf, type EntityModel, type ModelOptions, type ModelSpec } from '../changes/model.ts';
import type { AnySource } from '../changes/sources.ts';
import { type Column, columnsOf, entityOpsOf, flag, json, plain } from '../changes/operations.ts';
import type { Directory, View } from '../context.ts';
import type { Contract, EntityResponse, StoredEntity } from '../contract/contract.ts';
import type { Field } from '../contract/field.ts';
import { actorParts, isReference, storedName } from '../contract/schemas.ts';
import type { EventType } from '../events/catalogue.ts';
import { assignAtCommit } from '../events/log/append.ts';
import { rowAsItWas } from './as-of/past.ts';
import { deletedAtOf, toResponseOf } from './representation.ts';

/** Columns in addition to those of the fields in the contract. */
type ExtraColumns = Readonly<Record<string, Column>>;
type Beside<X> = { readonly [K in keyof X]: X[K] extends Column<infer T> ? T : never };

/** Stored object of a resource, with the additional columns. */
export type EntityOf<C, X = unknown> = StoredEntity<C> & Beside<X> & Entity;

type Wire = Readonly<Record<string, unknown>>;

/** Parts of a model that do not follow from the contract. */
interface Storage<C extends Contract, X extends ExtraColumns, E extends Entity> extends ModelOptions<E> {
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
}

/** `Storage` of any contract, which shows any value. */
interface AnyStorage extends Omit<Storage<Contract, ExtraColumns, Entity>, 'toResponse' | 'toEventData'> {
  readonly toResponse?: (entity: Entity, view: View) => Wire;
  readonly toEventData?: (entity: Entity, rendered: Wire) => Wire;
}

/**
 * Returns the model of a contract, or of the description of an object that has no contract. It registers the
 * commit-assigned values of the object, so it must be called once.
 */
export function modelOf<C extends Contract, const X extends ExtraColumns = Record<never, never>>(
  contract: C,
  storage?: Storage<C, X, EntityOf<C, X>>,
): EntityModel<EntityOf<C, X>, EntityResponse<C>>;
export function modelOf<E extends Entity, W extends Wire>(description: ModelSpec<E, W>): EntityModel<E, W>;
export function modelOf(source: object, storage: object = {}): unknown {
  // The signatures above state the types, which the derivation does not know.
  const spec =
    'path' in source
      ? specOf(source as Contract, storage as AnyStorage)
      : (source as ModelSpec<Entity, Wire>);
  const { name, table, alias, asItWas, team, insertExpressions = {} } = spec;
  if (spec.commitAssigned) assignAtCommit(name, spec.commitAssigned.rule);
  const columns = columnsOf<Entity>(spec.fields, new Set(Object.keys(insertExpressions)));
  const cached = columns.sourceIn(table, spec.commitAssigned?.field ?? null);
  const reading = readingOf(name, table);
  const model: EntityModel<Entity, Wire> = {
    name,
    table,
    select: columns.select,
    retainsDeleted: 'deletedAt' in spec.fields,
    isOfTeamIn: team?.isIn,
    source: cached as AnySource | null,
    fromRow: columns.read,
    pick: columns.pick,
    asItWas,
    follows: spec.follows,
    inputs: spec.inputs,
    toResponse: spec.toResponse,
    ...findingOf({ name, table, columns, source: cached, alias, teamOf: team?.of, reading, asItWas }),
    noteList: reading.noteList,
    ...changesOf(spec, entityOpsOf(table, columns, insertExpressions), cached),
    comesBack: spec.comesBack,
  };
  return model;
}

function specOf(contract: Contract, storage: AnyStorage): ModelSpec<Entity, Wire> {
  const { stored, columns, shows = {}, toEventData, asItWas, ...parts } = storage;
  const { toResponse = toResponseOf(contract, shows) } = parts;
  const spec: ModelSpec<Entity, Wire> = {
    name: contract.name,
    table: contract.path,
    fields: contractColumns(contract, { ...stored, ...columns }),
    // A past row cannot be derived from events that show less than the API.
    ...(toEventData
      ? { toEventData: (entity, view) => toEventData(entity, toResponse(entity, view)) }
      : { asItWas: rowAsItWas(contract, asItWas) }),
    events: (before, after) => [plainEvent(contract, before, after)],
    ...teamOf(contract),
    ...aliasOf(contract),
    ...parts,
    toResponse,
  };
  if (contract.ofTeam && !spec.team)
    throw new Error(`Objects of ${contract.name} belong to a team: define it by a field or by \`team\`.`);
  return spec;
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

/** @param own columns that replace those of fields, or are added to them */
function contractColumns(contract: Contract, own: ExtraColumns): Record<string, Column> {
  const all: Record<string, Column> = {};
  for (const [name, field] of Object.entries(contract.fields)) {
    if (field.options.computed) continue;
    if (field.type === 'actor') for (const part of actorParts(name)) all[part] = plain(snake(part));
    else all[storedName(name, field)] = columnOf(storedName(name, field), field);
  }
  const deleted = contract.retainsDeleted ? { deletedAt: plain('deleted_at') } : {};
  const times = { createdAt: plain('created_at'), updatedAt: plain('updated_at'), ...deleted };
  return { ...all, ...own, ...times };
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
