// Compiles a filter to a function on API objects. Compilation runs once, because every event is tested against each filter.
import type {
  Filter,
  FilterField,
  FilterFields,
  FilterTest,
  FilterValue,
  Listing,
  Operand,
  Order,
} from './filter.ts';
import { searchedWay } from './filter-value.ts';
import { foldCase, foldName } from '../text/words.ts';

/** @param nowMs base of relative times */
export type Passes = (entity: unknown, searched: Searched, nowMs: number) => boolean;

/**
 * Cache of the texts of one object for text search. Each text is folded once and searched once per part,
 * regardless of the number of filters.
 */
export interface Searched {
  of(text: string): { readonly folded: string; contains(part: string): boolean };
}

export function createSearched(): Searched {
  const known = new Map<string, ReturnType<Searched['of']>>();
  const searched = (text: string): ReturnType<Searched['of']> => {
    const folded = foldCase(text);
    const matches = new Map<string, boolean>();
    return {
      folded,
      contains(part) {
        let isThere = matches.get(part);
        if (isThere === undefined) matches.set(part, (isThere = folded.includes(part)));
        return isThere;
      },
    };
  };
  return {
    of(text) {
      let one = known.get(text);
      if (!one) known.set(text, (one = searched(text)));
      return one;
    },
  };
}

/** @throws Error for a field that is not in `fields` */
export function passesOf(filter: Filter, fields: FilterFields): Passes {
  if ('all' in filter) {
    const terms = filter.all.map((term) => passesOf(term, fields));
    return (...args) => terms.every((passes) => passes(...args));
  }
  if ('any' in filter) {
    const terms = filter.any.map((term) => passesOf(term, fields));
    return (...args) => terms.some((passes) => passes(...args));
  }
  if ('not' in filter) {
    const passes = passesOf(filter.not, fields);
    return (...args) => !passes(...args);
  }
  const field = fields[filter.field];
  if (!field) throw new Error(`Unknown filter field ${filter.field}.`);
  return passesTest(filter, field);
}

function passesTest(filter: FilterTest, field: FilterField): Passes {
  switch (filter.test) {
    case 'in':
      return listedIn(filter, field.path);
    case 'null': {
      const anyAt = valuesAt(field.path);
      return (entity) => anyAt(entity, isThere) !== filter.value;
    }
    case 'contains':
    case 'startsWith':
      return looked(field, filter.test, filter.value);
    default:
      return ordered(field, filter.test, filter.value);
  }
}

const isThere = (value: FilterValue): boolean => value !== '';

function looked(field: FilterField, test: 'contains' | 'startsWith', part: string): Passes {
  if (field.type === 'reference')
    return lookedInNames(searchedWay(field) ?? { path: field.path }, test, part);
  const anyAt = valuesAt(field.path);
  return test === 'contains'
    ? (entity, searched) => anyAt(entity, (text) => searched.of(String(text)).contains(part))
    : (entity, searched) => anyAt(entity, (text) => searched.of(String(text)).folded.startsWith(part));
}

function lookedInNames(way: ValuePath, test: 'contains' | 'startsWith', part: string): Passes {
  const anyAt = valuesOf(way);
  const passes = (name: FilterValue): boolean => {
    const folded = foldName(String(name));
    return test === 'contains' ? folded.includes(part) : folded.startsWith(part);
  };
  return (entity) => anyAt(entity, passes);
}

function listedIn({ groups }: Listing, path: string): Passes {
  const each = groups.map(({ way, values }): Passes => {
    const anyAt = valuesOf(way ?? { path });
    const relative = values.filter((value) => typeof value === 'object');
    const known = new Set<unknown>(values);
    // Saves the fold for values that are stored in folded form.
    const isListed =
      way?.by === 'name'
        ? (value: FilterValue) => known.has(value) || known.has(foldName(String(value)))
        : (value: FilterValue) => known.has(value);
    if (relative.length === 0) return (entity) => anyAt(entity, isListed);
    return (entity, _, nowMs) => {
      const then = relative.map((value) => value.at(nowMs));
      return anyAt(entity, (value) => known.has(value) || then.includes(String(value)));
    };
  });
  const [only] = each;
  return only && each.length === 1 ? only : (...args) => each.some((passes) => passes(...args));
}

type Key = number | string;

const compare: Readonly<Record<Order, (a: Key, b: Key) => boolean>> = {
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
};

function ordered(field: FilterField, test: Order, operand: Operand): Passes {
  const anyAt = valuesAt(field.path);
  const rank = field.type === 'reference' ? undefined : field.rank;
  const keyOf = (value: FilterValue): Key => {
    if (rank) return rank.indexOf(String(value));
    return typeof value === 'boolean' ? Number(value) : value;
  };
  const isInOrder = compare[test];
  if (typeof operand === 'object')
    return (entity, _, nowMs) => {
      const than = operand.at(nowMs);
      return anyAt(entity, (value) => isInOrder(keyOf(value), than));
    };
  const than = keyOf(operand);
  const passes = (value: FilterValue): boolean => isInOrder(keyOf(value), than);
  return (entity) => anyAt(entity, passes);
}

type AnyAt = (entity: unknown, passes: (value: FilterValue) => boolean) => boolean;
interface ValuePath {
  readonly path: string;
  /** Separator: the value is the text before it. */
  readonly upTo?: string;
}

function valuesOf({ path, upTo }: ValuePath): AnyAt {
  const anyAt = valuesAt(path);
  if (upTo === undefined) return anyAt;
  return (entity, passes) => anyAt(entity, (value) => passes(String(value).split(upTo, 1)[0]!));
}

/** Returns a function that is true if any value at a path passes; null and missing values never pass. */
function valuesAt(path: string): AnyAt {
  const [step = '', ...rest] = path.split('.');
  const below: AnyAt =
    rest.length > 0
      ? valuesAt(rest.join('.'))
      : (value, passes) => value !== null && value !== undefined && passes(value as FilterValue);
  if (!step.endsWith('[]')) return (entity, passes) => below(at(entity, step), passes);
  const name = step.slice(0, -2);
  return (entity, passes) => {
    const list = at(entity, name);
    return Array.isArray(list) && list.some((item) => below(item, passes));
  };
}

function at(entity: unknown, name: string): unknown {
  return entity !== null && typeof entity === 'object'
    ? (entity as Record<string, unknown>)[name]
    : undefined;
}

/** Condition that every matching object meets: one of `values` is among the values that `read` returns. */
export interface Equality {
  /** Identifies the values that `read` returns. */
  readonly key: string;
  readonly values: readonly FilterValue[];
  read(entity: unknown): readonly FilterValue[];
}

/** Returns the equality term of a filter with the fewest values; null if the filter has none. */
export function equalityOf(filter: Filter, fields: FilterFields): Equality | null {
  if ('all' in filter) {
    const terms = filter.all.flatMap((term) => equalityOf(term, fields) ?? []);
    return terms.toSorted((a, b) => a.values.length - b.values.length)[0] ?? null;
  }
  if (!('test' in filter) || filter.test !== 'in' || filter.groups.length !== 1) return null;
  return equalityOfGroup(filter.groups[0]!, fields[filter.field]!.path);
}

function equalityOfGroup({ way, values }: Listing['groups'][number], path: string): Equality | null {
  const plain = values.filter((value) => typeof value !== 'object');
  if (plain.length !== values.length || way?.by === 'turn') return null;
  const place: ValuePath = way ?? { path };
  const anyAt = valuesOf(place);
  const isName = way?.by === 'name';
  return {
    key: `${place.path} ${place.upTo ?? ''} ${String(isName)}`,
    values: isName ? plain.map((value) => foldName(String(value))) : plain,
    read(entity) {
      const found: FilterValue[] = [];
      anyAt(entity, (value) => {
        found.push(isName ? foldName(String(value)) : value);
        return false;
      });
      return found;
    },
  };
}
