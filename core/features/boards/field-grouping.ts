// Groups by the values of a custom field: options of a select, members, or states of a checkbox.
import type { Entry } from '../../kernel/contract/contract.ts';
import type { field, FieldValue } from '../fields/contract.ts';
import { member } from '../people/contract.ts';
import { foldName } from '../../platform/lib/text/words.ts';
import { idOfName } from '../../kernel/resource/names/names.ts';
import { customValue } from '../fields/index.ts';
import { ofField, type GroupingName } from './contract.ts';
import {
  groupingOf,
  idsByName,
  none,
  type Grouping,
  type GroupKey,
  type BoardVisibility,
} from './grouping.ts';

type FieldEntry = Entry<typeof field>;

/** Behavior that depends on the type of the field. */
interface FieldTypeGrouping {
  /** Key in requests for issues without a value, if not `none`. */
  readonly none?: string;
  readonly resolve?: Grouping['resolve'];
  /** Converts a value in API representation to the key of its group. */
  keyOf(fieldValue: FieldValue): GroupKey;
  /** Converts the value of a column to the API representation; undefined if unknown. */
  fieldValueOf(visibility: BoardVisibility, value: string): FieldValue | undefined;
  titleOf(visibility: BoardVisibility, value: string): string;
  derived(visibility: BoardVisibility, counted: ReadonlySet<GroupKey>): readonly (string | null)[];
}

function optionsOf({ options }: FieldEntry): FieldTypeGrouping {
  const find = (value: string) => options.find((option) => option.value === value);
  return {
    // Option values cannot begin with a hyphen, so `-` is free for issues without a value.
    ...(find(none) ? { none: '-' } : {}),
    resolve(ctx, _, requested, path) {
      const option = find(requested) ?? options.find(({ name }) => foldName(name) === foldName(requested));
      if (option && option.value !== requested) ctx.resolved?.(path, option.value);
      return option?.value ?? requested;
    },
    keyOf: String,
    fieldValueOf: (_, value) => find(value)?.value,
    titleOf: (_, value) => find(value)?.name ?? value,
    derived: (_, counted) => [
      null,
      ...options.flatMap(({ value, archived }) => (archived && !counted.has(value) ? [] : [value])),
    ],
  };
}

const members: FieldTypeGrouping = {
  resolve: (ctx, _, requested, path) => idOfName(ctx, member, requested, path),
  keyOf: String,
  fieldValueOf: ({ directory }, value) => (directory.members.has(value) ? value : undefined),
  titleOf: ({ directory }, value) => directory.members.get(value)?.name ?? value,
  derived: ({ directory }, counted) => idsByName(directory.members, counted),
};

const boxes = new Map([
  ['false', false],
  ['true', true],
]);
const checkbox: FieldTypeGrouping = {
  // SQLite reads JSON booleans as 0 and 1.
  keyOf: Number,
  fieldValueOf: (_, value) => boxes.get(value),
  titleOf: (_, value) => (value === 'true' ? 'Checked' : 'Not checked'),
  derived: () => [null, ...boxes.keys()],
};

function valuesOf(field: FieldEntry): FieldTypeGrouping | null {
  if (field.type === 'select') return optionsOf(field);
  if (field.type === 'member') return members;
  return field.type === 'checkbox' ? checkbox : null;
}

function byField(field: FieldEntry, values: FieldTypeGrouping): Grouping {
  const { id, key } = field;
  const keyOf = (fieldValue: FieldValue | undefined): GroupKey =>
    fieldValue === undefined ? null : values.keyOf(fieldValue);
  return {
    column: customValue(field),
    none: values.none ?? none,
    ...(values.resolve && { resolve: values.resolve }),
    keysOn: ({ fieldValues }) => [keyOf(fieldValues?.[id])],
    keysOf(visibility, value) {
      if (value === null) return [null];
      const fieldValue = values.fieldValueOf(visibility, value);
      return fieldValue === undefined ? [] : [keyOf(fieldValue)];
    },
    titleOf: (visibility, value) =>
      value === null ? `No ${key.replaceAll('_', ' ')}` : values.titleOf(visibility, value),
    derived: (visibility, counted) => values.derived(visibility, counted),
    moved(visibility, { fieldValues }, { value, keys }) {
      if (keys.includes(keyOf(fieldValues?.[id]))) return {};
      return { fields: { [key]: value === null ? null : (values.fieldValueOf(visibility, value) ?? null) } };
    },
  };
}

/** Grouping in place of a deleted field: no issue has a value. */
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

/** Returns undefined for an unknown field, or one of a type that cannot be grouped by. */
export function groupingIn(visibility: BoardVisibility, name: string): Grouping | undefined {
  if (isPlain(name)) return groupingOf[name];
  const field = fieldByName(visibility, name);
  const values = field ? valuesOf(field) : null;
  return field && values ? byField(field, values) : undefined;
}

/** Returns the custom field that issues of the board have under a name such as `fields.platform`. */
export function fieldByName({ directory, teams }: BoardVisibility, name: string): FieldEntry | undefined {
  const key = name.slice(ofField.length);
  const field = [...directory.fields.values()].find((one) => one.key === key);
  return field && (field.teamId === null || !teams || teams.has(field.teamId)) ? field : undefined;
}
