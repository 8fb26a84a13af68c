// Validates the filters of a resource: objects that they name must exist when a list is requested or a
// subscription is created. An object that is deleted later no longer matches.
import type { Entity } from '../../changes/change.ts';
import type { EntityModel } from '../../changes/model.ts';
import type { Context, Directory } from '../../context.ts';
import type { Contract } from '../../contract/contract.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import {
  isAlways,
  isNever,
  parseFilter,
  type Filter,
  type FilterFields,
} from '../../../platform/lib/filter/filter.ts';
import { createSearched, passesOf } from '../../../platform/lib/filter/filter-match.ts';
import type { Me, Mention } from '../../../platform/lib/filter/filter-value.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { filterConditions } from '../../../platform/store/filter-sql.ts';
import type { Condition } from '../../../platform/store/page.ts';
import { entriesOf } from '../directory.ts';
import { filterColumnsOf, filterFieldsOf, type FilterColumns } from './filter.ts';
import { idsByName, isSeen, namesSeen } from '../names/names.ts';

type Columns = ReturnType<FilterColumns>;

/** Filter of a list: a tree and its path in the request, or a parsed filter. */
export type FilterRequest =
  | {
      readonly tree: unknown;
      readonly at: string;
      /** Rejects a filter that every object matches. */
      readonly narrows?: true;
      /** True for a stored filter: objects that it names and that no longer exist match nothing. */
      readonly wasTaken?: true;
    }
  | { readonly filter: Filter };

export interface EventFiltering {
  /** Fields in every workspace. */
  readonly fields: FilterFields;
  /** Field to which a workspace adds parts to filter by, as `<field>.<key>`; null for none. */
  readonly under: string | null;
  /** Includes the fields that a workspace adds; returns the same object until the directory changes. */
  fieldsIn(directory: Directory): FilterFields;
  /**
   * Rejects a filter that names a missing object, or that nothing can match.
   * @param of type of event, for errors
   * @throws ApiError validation_failed
   */
  check(ctx: Context, filter: unknown, at: string, of?: string): Promise<void>;
}

export interface Filtering extends EventFiltering {
  readonly added: Added | undefined;
  readonly find: FindMentioned | undefined;
  /** Returns the conditions of a list. @throws ApiError validation_failed */
  conditions(ctx: Context, requested: readonly FilterRequest[]): Promise<readonly Condition[]>;
  /** Returns a predicate for objects in their public representation. @throws ApiError validation_failed */
  passes(ctx: Context, requested: readonly FilterRequest[]): Promise<(object: unknown) => boolean>;
}

/** Checks the filter of a new subscription. @throws ApiError validation_failed */
export type CheckFilter = (ctx: Context, eventType: string, filter: unknown, at: string) => Promise<void>;

/**
 * Finds objects that are not in the directory.
 * @returns the id; undefined if the caller can see no object of that name
 */
export type FindMentioned = (ctx: Context, mention: Mention) => Promise<string | undefined>;

/** Fields that depend on the workspace. */
interface Added {
  /** Prefix of the full names, such as `fields`. */
  readonly under: string;
  /** Fields by full name. */
  fieldsIn(directory: Directory): FilterFields;
}

interface FilteringOptions {
  readonly fields: FilterFields;
  readonly added?: Added | undefined;
  readonly find?: FindMentioned | undefined;
}

export function createEventFiltering({ fields, added, find }: FilteringOptions): EventFiltering {
  const known = new WeakMap<Directory, FilterFields>();
  const fieldsIn = (directory: Directory): FilterFields => {
    if (!added) return fields;
    const all = known.get(directory) ?? { ...fields, ...added.fieldsIn(directory) };
    known.set(directory, all);
    return all;
  };
  return {
    fields,
    under: added?.under ?? null,
    fieldsIn,
    async check(ctx, filter, at, of) {
      const mentions: Mention[] = [];
      const reading = of === undefined ? { mentions } : { mentions, of };
      const parsed = parseFilter(filter, fieldsIn(ctx.directory), at, reading);
      if (isNever(parsed))
        throw invalidField(at, 'conflict', {
          why: 'Nothing can match this filter.',
          fix: 'Name a value, or remove the filter.',
        });
      await requireKnown(ctx, mentions, find);
    },
  };
}

export function createFiltering(options: FilteringOptions & { readonly columns: FilterColumns }): Filtering {
  const { added, columns, find } = options;
  const ofEvents = createEventFiltering(options);
  const { fieldsIn } = ofEvents;
  // The columns stay the same for all lists until the directory changes.
  const columnsCache = new WeakMap<Directory, Columns>();
  const columnsIn = (directory: Directory, found: ReadonlyMap<string, string>): Columns => {
    if (found.size > 0) return columns(directory, found);
    const known = columnsCache.get(directory) ?? columns(directory, found);
    columnsCache.set(directory, known);
    return known;
  };
  return {
    ...ofEvents,
    added,
    find,
    async conditions(ctx, requested) {
      if (requested.length === 0) return none;
      const { filters, mentions, taken } = filtersIn(ctx, requested, fieldsIn(ctx.directory));
      const found = await requireKnown(ctx, mentions, find);
      for (const mention of taken) await addMatch(ctx, mention, find, found);
      return filterConditions(filters, columnsIn(ctx.directory, found), ctx.nowMs());
    },
    async passes(ctx, requested) {
      const known = fieldsIn(ctx.directory);
      const { filters, mentions } = filtersIn(ctx, requested, known);
      await requireKnown(ctx, mentions, find);
      const meant = filters.map((filter) =>
        resolveRelativeWords(filter, columnsIn(ctx.directory, new Map())),
      );
      const passes = passesOf({ all: meant }, known);
      const nowMs = ctx.nowMs();
      return (object) => passes(object, createSearched(), nowMs);
    },
  };
}

/** @throws ApiError validation_failed */
function filtersIn(
  ctx: Context,
  requested: readonly FilterRequest[],
  fields: FilterFields,
): { filters: Filter[]; mentions: Mention[]; taken: Mention[] } {
  const mentions: Mention[] = [];
  const taken: Mention[] = [];
  const filters = requested.map((one) => {
    if ('filter' in one) return one.filter;
    const { wasTaken = false } = one;
    const reading = { me: meOf(ctx), mentions: wasTaken ? taken : mentions, wasTaken };
    const filter = parseFilter(one.tree, fields, one.at, reading);
    if (one.narrows && isAlways(filter))
      throw invalidField(one.at, 'too_short', {
        why: 'Every object matches this filter.',
        fix: 'Add a condition that only the intended objects meet.',
      });
    return filter;
  });
  return { filters, mentions, taken };
}

/** Replaces words such as `current`, which no object contains, by ids. */
function resolveRelativeWords(filter: Filter, columns: Columns): Filter {
  if ('all' in filter) return { all: filter.all.map((one) => resolveRelativeWords(one, columns)) };
  if ('any' in filter) return { any: filter.any.map((one) => resolveRelativeWords(one, columns)) };
  if ('not' in filter) return { not: resolveRelativeWords(filter.not, columns) };
  if (filter.test !== 'in') return filter;
  const groups = filter.groups.map(({ way, values }) =>
    way?.by === 'turn'
      ? { way, values: columns[filter.field]?.ids?.(way, values.map(String)) ?? [] }
      : { way, values },
  );
  return { ...filter, groups };
}

/** Returns the filters that the contract alone defines. */
export function filteringOf<E extends Entity, W>(contract: Contract, model: EntityModel<E, W>): Filtering {
  const isLive = (entity: E): boolean => !('deletedAt' in entity) || entity.deletedAt === null;
  return createFiltering({
    fields: filterFieldsOf(contract),
    columns: filterColumnsOf(contract),
    // References to objects of other contracts outside of the directory are compared as given.
    async find(ctx, { field, value }) {
      if (field.to.name !== contract.name) return value;
      const found = await model.find(ctx, value);
      return found && isLive(found) ? found.id : undefined;
    },
  });
}

const none: readonly Condition[] = [];

function meOf({ actor }: Context): Me {
  return { id: actor.memberId ?? actor.id, memberId: actor.memberId ?? null };
}

/**
 * @returns the ids of named objects outside of the directory, by name.
 * @throws ApiError validation_failed (not_found)
 */
async function requireKnown(
  ctx: Context,
  mentions: readonly Mention[],
  find: FindMentioned | undefined,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const mention of mentions) {
    const { field } = mention;
    const isKnown = field.to.directory
      ? isInDirectory(ctx, mention)
      : !find || (await addMatch(ctx, mention, find, found)) || field.isSelf;
    if (!isKnown) throw unknown(ctx, mention);
  }
  return found;
}

/**
 * Adds the id of an object that is not in the directory to `found`.
 * @returns true if the object exists
 */
async function addMatch(
  ctx: Context,
  mention: Mention,
  find: FindMentioned | undefined,
  found: Map<string, string>,
): Promise<boolean> {
  const { field, value } = mention;
  if (field.to.directory || !find) return false;
  const id = found.get(value) ?? (await find(ctx, mention));
  if (id !== undefined) found.set(value, id);
  return id !== undefined;
}

function isInDirectory(ctx: Context, { field, way, value }: Mention): boolean {
  const { to } = field;
  if (way.by === 'word' || way.by === 'turn') return true;
  // Actors that are not members, such as plugins, are not in the directory.
  if (way.by === 'id' && to.id !== null && !value.startsWith(`${to.id}_`)) return true;
  const entries = entriesOf(ctx.directory, to);
  const ids = way.by === 'id' ? [value] : idsByName(entries, way.property, value);
  return ids.some((id) => {
    const entry = entries.get(id);
    // Removed members are still shown on their objects.
    return isSeen(ctx, entry) && (field.isPerson || !entry?.removed);
  });
}

function unknown(ctx: Context, { path, field, way, input }: Mention): Error {
  const words = [...new Set(field.ways.flatMap(({ words = {} }) => Object.values(words)))];
  const names = way.by === 'id' ? [] : namesSeen(ctx, field.to, way.property);
  const types = words.length === 0 ? '' : ` Its types are ${words.join(', ')}.`;
  const meant = didYouMean(input, [...words, ...names]);
  return invalidField(path, 'not_found', {
    why: `There is no ${field.to.name} ${input}.`,
    fix: `Name an existing ${field.to.name}.${meant}${types}`,
  });
}
