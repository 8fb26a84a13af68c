// Columns and swim lanes that stand for the values of a custom field: the options of a select, the members of one, whether a box is checked.
import type { Entry } from '../../contract/contract.ts';
import type { field, FieldValue } from '../fields/contract.ts';
import { member } from '../../identity/members/contract.ts';
import { foldName } from '../../lib/fold.ts';
import { idOfName } from '../../resource/names.ts';
import { customValue } from '../fields/filter.ts';
import { ofField, type GroupingName } from './contract.ts';
import { groupingOf, named, none, type Grouping, type Key, type Sight } from './grouping.ts';

type FieldEntry = Entry<typeof field>;

/** What differs by the type of a field. */
interface Values {
  /** What requests call the group of issues without a value, where that is not `none`. */
  readonly none?: string;
  readonly resolve?: Grouping['resolve'];
  /** What rows hold for what issues show. */
  keyOf(shown: FieldValue): Key;
  /** What issues show for the value of a column; undefined for one that there is not. */
  shownOf(sight: Sight, value: string): FieldValue | undefined;
  titleOf(sight: Sight, value: string): string;
  derived(sight: Sight, counted: ReadonlySet<Key>): readonly (string | null)[];
}

function optionsOf({ options }: FieldEntry): Values {
  const find = (value: string) => options.find((option) => option.value === value);
  return {
    // No option begins so.
    ...(find(none) ? { none: '-' } : {}),
    resolve(ctx, _, given, path) {
      const named = find(given) ?? options.find(({ name }) => foldName(name) === foldName(given));
      if (named && named.value !== given) ctx.resolved?.(path, named.value);
      return named?.value ?? given;
    },
    keyOf: String,
    shownOf: (_, value) => find(value)?.value,
    titleOf: (_, value) => find(value)?.name ?? value,
    derived: (_, counted) => [
      null,
      ...options.flatMap(({ value, archived }) => (archived && !counted.has(value) ? [] : [value])),
    ],
  };
}

const members: Values = {
  resolve: (ctx, _, given, path) => idOfName(ctx, member, given, path),
  keyOf: String,
  shownOf: ({ directory }, value) => (directory.members.has(value) ? value : undefined),
  titleOf: ({ directory }, value) => directory.members.get(value)?.name ?? value,
  derived: ({ directory }, counted) => named(directory.members, counted),
};

const boxes = new Map([
  ['false', false],
  ['true', true],
]);
const checkbox: Values = {
  // As SQLite reads JSON.
  keyOf: Number,
  shownOf: (_, value) => boxes.get(value),
  titleOf: (_, value) => (value === 'true' ? 'Checked' : 'Not checked'),
  derived: () => [null, ...boxes.keys()],
};

function valuesOf(field: FieldEntry): Values | null {
  if (field.type === 'select') return optionsOf(field);
  if (field.type === 'member') return members;
  return field.type === 'checkbox' ? checkbox : null;
}

function byField(field: FieldEntry, values: Values): Grouping {
  const { id, key } = field;
  const keyOf = (shown: FieldValue | undefined): Key => (shown === undefined ? null : values.keyOf(shown));
  return {
    column: customValue(field),
    none: values.none ?? none,
    ...(values.resolve && { resolve: values.resolve }),
    keysOn: ({ fieldValues }) => [keyOf(fieldValues?.[id])],
    keysOf(sight, value) {
      if (value === null) return [null];
      const shown = values.shownOf(sight, value);
      return shown === undefined ? [] : [keyOf(shown)];
    },
    titleOf: (sight, value) =>
      value === null ? `No ${key.replaceAll('_', ' ')}` : values.titleOf(sight, value),
    derived: (sight, counted) => values.derived(sight, counted),
    moved(sight, { fieldValues }, { value, keys }) {
      if (keys.includes(keyOf(fieldValues?.[id]))) return {};
      return { fields: { [key]: value === null ? null : (values.shownOf(sight, value) ?? null) } };
    },
  };
}

/** In place of a field that was deleted: no issue has a value of it. */
export const gone: Grouping = {
  column: 'NULL',
  none,
  keysOn: () => [null],
  keysOf: (_, value) => (value === null ? [null] : []),
  titleOf: (_, value) => value ?? 'No value',
  derived: () => [null],
  moved: () => ({}),
};

const isPlain = (name: string): name is GroupingName => Object.hasOwn(groupingOf, name);

/** @returns undefined for a field that is not there, or that has no values to stand for */
export function groupingIn(sight: Sight, name: string): Grouping | undefined {
  if (isPlain(name)) return groupingOf[name];
  const field = fieldNamed(sight, name);
  const values = field ? valuesOf(field) : null;
  return field && values ? byField(field, values) : undefined;
}

/** The custom field that issues of the board have under a name such as `fields.platform`. */
export function fieldNamed({ directory, teams }: Sight, name: string): FieldEntry | undefined {
  const key = name.slice(ofField.length);
  const field = [...directory.fields.values()].find((one) => one.key === key);
  return field && (field.teamId === null || !teams || teams.has(field.teamId)) ? field : undefined;
}
