// Groupings of columns and swimlanes. A grouping maps values to the keys of rows, and computes the patch of
// an issue whose card moves to a value. To add one, add an entry to `groupingOf`; a custom field groups by
// its options, members, or the states of a checkbox.
import type { Directory } from '../../kernel/context.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { foldName, capital } from '../../platform/lib/text/words.ts';
import { member } from '../people/contract.ts';
import { idOfName, type Naming } from '../../kernel/resource/names/names.ts';
import { label as labelContract } from '../labels/contract.ts';
import type { IssuePatch, Issue } from '../issues/index.ts';
import { priorities } from '../issues/contract.ts';
import { stateTypes } from '../workflows/contract.ts';
import { columnsMax, type GroupingName, ofField } from './contract.ts';
import type { Entry } from '../../kernel/contract/contract.ts';
import type { field, FieldValue } from '../fields/contract.ts';
import { customValue } from '../fields/index.ts';

/** Key in requests for the group without a value. */
export const none = 'none';

/** Grouping key of a row: an id, the rank of a priority, or null for no value. */
export type GroupKey = string | number | null;

/** Fields of an issue that determine its group. */
export type Grouped = Pick<Issue, 'stateId' | 'assigneeId' | 'priority' | 'labelIds' | 'fieldValues'>;

/** Scope within which a board resolves values. */
export interface BoardVisibility {
  readonly directory: Directory;
  /** Ids of the teams whose issues the board shows; null for all. */
  readonly teams: ReadonlySet<string> | null;
}

/** A column or lane. */
export interface Group {
  /** Key that requests use: the value, or `none`. */
  readonly key: string;
  readonly value: string | null;
  readonly title: string;
  /** Keys of the rows in the group; empty for a value that no longer exists. */
  readonly keys: readonly GroupKey[];
  readonly limit: number | null;
  readonly hidden: boolean;
}

export interface Grouping {
  /** Column or SQL expression of issues that holds the keys; null if the label table holds them. */
  readonly column: string | null;
  /** True if each key belongs to one team. */
  readonly ofTeam?: true;
  /** Key in requests for issues without a value; absent if every issue has one. */
  readonly none?: string;
  /**
   * Resolves a name in a request to a value; absent if requests give only values.
   * @throws ApiError validation_failed
   */
  resolve?(ctx: Naming, visibility: BoardVisibility, requested: string, path: string): string;
  /** Returns the row keys of a value. */
  keysOf(visibility: BoardVisibility, value: string | null): readonly GroupKey[];
  /** Returns the keys of an issue. */
  keysOn(issue: Grouped): readonly GroupKey[];
  titleOf(visibility: BoardVisibility, value: string | null): string;
  /**
   * Returns all values in order.
   * @param counted keys that cards have
   */
  derived(visibility: BoardVisibility, counted: ReadonlySet<GroupKey>): readonly (string | null)[];
  /**
   * Returns the patch for an issue that is moved to a group.
   * @param left groups that the issue leaves
   * @throws ApiError validation_failed
   */
  moved(visibility: BoardVisibility, issue: Issue, to: Group, left: readonly Group[]): IssuePatch;
}

type StateEntry = Directory['states'] extends ReadonlyMap<string, infer S> ? S : never;

/** Returns states sorted by type and position, in workflow order. */
function statesIn({ directory, teams }: BoardVisibility): StateEntry[] {
  return [...directory.states.values()]
    .filter(({ teamId, removed }) => !removed && (teams === null || teams.has(teamId)))
    .sort(
      (a, b) =>
        stateTypes.indexOf(a.type) - stateTypes.indexOf(b.type) ||
        a.position - b.position ||
        (a.id < b.id ? -1 : 1),
    );
}

/** @param statesOf returns the states of a value */
function byStates(
  statesOf: (visibility: BoardVisibility, value: string) => StateEntry[],
  rest: Pick<Grouping, 'titleOf' | 'derived'>,
): Grouping {
  return {
    ...rest,
    column: 'state_id',
    ofTeam: true,
    keysOn: ({ stateId }) => [stateId],
    keysOf: (visibility, value) => (value === null ? [] : statesOf(visibility, value).map(({ id }) => id)),
    moved({ directory }, issue, { keys, title }) {
      if (keys.includes(issue.stateId)) return {};
      const own = keys
        .flatMap((key) => directory.states.get(String(key)) ?? [])
        .filter(({ teamId }) => teamId === issue.teamId);
      const allowed = directory.teams.get(issue.teamId)?.transitions?.[issue.stateId];
      const state = own.find(({ id }) => allowed?.includes(id)) ?? own[0];
      if (state) return { stateId: state.id };
      throw invalidField('column', 'not_found', {
        why: `The team of the issue has no state for ${title}.`,
        fix: 'Add such a state to the team, or move the card to another column.',
      });
    },
  };
}

const nameOfState = ({ directory }: BoardVisibility, value: string): string =>
  directory.states.get(value)?.name ?? value;

const state = byStates(
  // States are matched by name, so that a column includes the states of every team of the board.
  (visibility, value) => {
    const name = foldName(nameOfState(visibility, value));
    return statesIn(visibility).filter((one) => foldName(one.name) === name);
  },
  {
    titleOf: (visibility, value) => nameOfState(visibility, value ?? ''),
    derived(visibility) {
      const names = new Map(statesIn(visibility).map(({ name }) => [foldName(name), name]));
      return [...names.values()];
    },
  },
);

const stateType = byStates((visibility, value) => statesIn(visibility).filter(({ type }) => type === value), {
  titleOf: (_, value) => capital(value ?? ''),
  derived: (visibility) => [...new Set(statesIn(visibility).map(({ type }) => type))],
});

/** Stored ranks: the most urgent priority is 0. */
const ranks: readonly string[] = priorities.toReversed();

const priority: Grouping = {
  column: 'priority',
  keysOn: (issue) => [ranks.indexOf(issue.priority)],
  keysOf: (_, value) => (value !== null && ranks.includes(value) ? [ranks.indexOf(value)] : []),
  titleOf: (_, value) => (value === 'none' ? 'No priority' : capital(value ?? '')),
  derived: () => ranks,
  moved: (_, issue, { value }) => (issue.priority === value ? {} : { priority: value as Issue['priority'] }),
};

/** Returns the ids that cards have, sorted by name, after null for cards without a value. */
function idsByName(entries: ReadonlyMap<string, { readonly name: string }>, counted: ReadonlySet<GroupKey>) {
  const nameOf = (id: GroupKey): string => foldName(entries.get(String(id))?.name ?? '');
  const ids = [...counted].filter((key): key is string => typeof key === 'string' && entries.has(key));
  const sortKeyOf = (id: string): string => `${nameOf(id)}\0${id}`;
  return [null, ...ids.sort((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1))].slice(0, columnsMax);
}

const assignee: Grouping = {
  column: 'assignee_id',
  none,
  resolve: (ctx, _, requested, path) => idOfName(ctx, member, requested, path),
  keysOn: ({ assigneeId }) => [assigneeId],
  keysOf: ({ directory }, value) => (value === null || directory.members.has(value) ? [value] : []),
  titleOf: ({ directory }, value) =>
    value === null ? 'No assignee' : (directory.members.get(value)?.name ?? value),
  derived: ({ directory }, counted) => idsByName(directory.members, counted),
  moved: (_, issue, { value }) => (issue.assigneeId === value ? {} : { assigneeId: value }),
};

const label: Grouping = {
  column: null,
  none,
  resolve: (ctx, { teams }, requested, path) =>
    idOfName(ctx, labelContract, requested, path, {
      has: ({ teamId }) => teamId === null || teams === null || teams.has(String(teamId)),
      words: ' for the issues of this board',
      // A board of one team prefers labels of the team, as its issues do; a board of all teams prefers shared
      // labels.
      rank: ({ teamId }) => ((teamId === null) === (teams === null) ? 0 : 1),
      isOpen: true,
    }),
  keysOn: ({ labelIds }) => labelIds,
  keysOf: ({ directory, teams }, value) => {
    const teamId = value === null ? null : directory.labels.get(value)?.teamId;
    return teamId === undefined || (teamId !== null && teams !== null && !teams.has(teamId)) ? [] : [value];
  },
  titleOf: ({ directory }, value) =>
    value === null ? 'No label' : (directory.labels.get(value)?.name ?? value),
  derived: ({ directory }, counted) => idsByName(directory.labels, counted),
  moved({ directory }, { labelIds }, { value }, left) {
    const gone = left.flatMap(({ value: id }) =>
      id !== null && id !== value && labelIds.includes(id) && directory.labels.has(id) ? [id] : [],
    );
    const isNew = value !== null && !labelIds.includes(value);
    return {
      ...(isNew ? { addLabels: [value] } : {}),
      ...(gone.length > 0 ? { removeLabels: gone } : {}),
    };
  },
};

export const groupingOf: Readonly<Record<GroupingName, Grouping>> = {
  state,
  stateType,
  assignee,
  priority,
  label,
};

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
