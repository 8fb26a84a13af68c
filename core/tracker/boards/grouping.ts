// What columns and swim lanes stand for. A grouping says which issues a value stands for, by the keys that rows have, and what a card
// becomes that is moved there. One more is one more entry of `groupingOf`; custom fields are in field-grouping.ts.
import type { Directory } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { foldName } from '../../lib/fold.ts';
import { capital } from '../../lib/words.ts';
import { member } from '../../identity/members/contract.ts';
import { idOfName, type Naming } from '../../resource/names.ts';
import { label as labelContract } from '../labels/contract.ts';
import type { IssuePatch } from '../issues/bodies.ts';
import { priorities } from '../issues/contract.ts';
import type { Issue } from '../issues/kind.ts';
import { stateTypes } from '../workflows/contract.ts';
import { columnsMax, type GroupingName } from './contract.ts';

/** What requests name the group by that stands for nothing. */
export const none = 'none';

/** What a row is grouped by: an id, the rank of a priority, or null where it has none. */
export type Key = string | number | null;

/** What of an issue says where it stands. */
export type Grouped = Pick<Issue, 'stateId' | 'assigneeId' | 'priority' | 'labelIds' | 'fieldValues'>;

/** What a board shows to whoever looks at it. */
export interface Sight {
  readonly directory: Directory;
  /** The ids of the teams whose issues it shows; null for all. */
  readonly teams: ReadonlySet<string> | null;
}

/** A column or lane. */
export interface Group {
  /** What requests name it by: its value, or `none`. */
  readonly key: string;
  readonly value: string | null;
  readonly title: string;
  /** Of the rows that stand in it; none for a value that means nothing any more. */
  readonly keys: readonly Key[];
  readonly limit: number | null;
  readonly hidden: boolean;
}

export interface Grouping {
  /** The column of issues that holds the keys, or what is made of it; null where they are in the table of labels. */
  readonly column: string | null;
  /** Each key belongs to one team. */
  readonly ofTeam?: true;
  /** What requests call the group of issues that have none; absent: each has one. */
  readonly none?: string;
  /** The value that a request means, which may give a name in its place. Absent: as it is given. @throws ApiError validation_failed */
  resolve?(ctx: Naming, sight: Sight, given: string, path: string): string;
  /** The keys of the rows that a value stands for. */
  keysOf(sight: Sight, value: string | null): readonly Key[];
  /** The keys that an issue has. */
  keysOn(issue: Grouped): readonly Key[];
  titleOf(sight: Sight, value: string | null): string;
  /** The values that there are, in their order. @param counted the keys that cards have */
  derived(sight: Sight, counted: ReadonlySet<Key>): readonly (string | null)[];
  /** What becomes of an issue that is moved there. @param left the groups that it leaves. @throws ApiError validation_failed */
  moved(sight: Sight, issue: Issue, to: Group, left: readonly Group[]): IssuePatch;
}

type StateEntry = Directory['states'] extends ReadonlyMap<string, infer S> ? S : never;

/** By type and position, as work goes on. */
function statesIn({ directory, teams }: Sight): StateEntry[] {
  return [...directory.states.values()]
    .filter(({ teamId, removed }) => !removed && (teams === null || teams.has(teamId)))
    .sort(
      (a, b) =>
        stateTypes.indexOf(a.type) - stateTypes.indexOf(b.type) ||
        a.position - b.position ||
        (a.id < b.id ? -1 : 1),
    );
}

/** @param named the states that a value stands for */
function byStates(
  named: (sight: Sight, value: string) => StateEntry[],
  rest: Pick<Grouping, 'titleOf' | 'derived'>,
): Grouping {
  return {
    ...rest,
    column: 'state_id',
    ofTeam: true,
    keysOn: ({ stateId }) => [stateId],
    keysOf: (sight, value) => (value === null ? [] : named(sight, value).map(({ id }) => id)),
    moved({ directory }, issue, { keys, title }) {
      if (keys.includes(issue.stateId)) return {};
      const own = keys
        .flatMap((key) => directory.states.get(String(key)) ?? [])
        .filter(({ teamId }) => teamId === issue.teamId);
      const allowed = directory.teams.get(issue.teamId)?.transitions?.[issue.stateId];
      const state = own.find(({ id }) => allowed?.includes(id)) ?? own[0];
      if (state) return { stateId: state.id };
      throw invalidField('column', 'not_found', {
        why: `The team of the issue has no state that stands for ${title}.`,
        fix: 'Give the team such a state, or move the card elsewhere.',
      });
    },
  };
}

const nameOfState = ({ directory }: Sight, value: string): string =>
  directory.states.get(value)?.name ?? value;

const state = byStates(
  // By name, so that the column of a board of several teams holds the issues of each.
  (sight, value) => {
    const name = foldName(nameOfState(sight, value));
    return statesIn(sight).filter((one) => foldName(one.name) === name);
  },
  {
    titleOf: (sight, value) => nameOfState(sight, value ?? ''),
    derived(sight) {
      const names = new Map(statesIn(sight).map(({ name }) => [foldName(name), name]));
      return [...names.values()];
    },
  },
);

const stateType = byStates((sight, value) => statesIn(sight).filter(({ type }) => type === value), {
  titleOf: (_, value) => capital(value ?? ''),
  derived: (sight) => [...new Set(statesIn(sight).map(({ type }) => type))],
});

/** As rows keep them: the most urgent is 0. */
const ranks: readonly string[] = priorities.toReversed();

const priority: Grouping = {
  column: 'priority',
  keysOn: (issue) => [ranks.indexOf(issue.priority)],
  keysOf: (_, value) => (value !== null && ranks.includes(value) ? [ranks.indexOf(value)] : []),
  titleOf: (_, value) => (value === 'none' ? 'No priority' : capital(value ?? '')),
  derived: () => ranks,
  moved: (_, issue, { value }) => (issue.priority === value ? {} : { priority: value as Issue['priority'] }),
};

/** Those that cards have, by name; whatever has none comes first. */
export function named(entries: ReadonlyMap<string, { readonly name: string }>, counted: ReadonlySet<Key>) {
  const nameOf = (id: Key): string => foldName(entries.get(String(id))?.name ?? '');
  const ids = [...counted].filter((key): key is string => typeof key === 'string' && entries.has(key));
  const placeOf = (id: string): string => `${nameOf(id)}\0${id}`;
  return [null, ...ids.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))].slice(0, columnsMax);
}

const assignee: Grouping = {
  column: 'assignee_id',
  none,
  resolve: (ctx, _, given, path) => idOfName(ctx, member, given, path),
  keysOn: ({ assigneeId }) => [assigneeId],
  keysOf: ({ directory }, value) => (value === null || directory.members.has(value) ? [value] : []),
  titleOf: ({ directory }, value) =>
    value === null ? 'No assignee' : (directory.members.get(value)?.name ?? value),
  derived: ({ directory }, counted) => named(directory.members, counted),
  moved: (_, issue, { value }) => (issue.assigneeId === value ? {} : { assigneeId: value }),
};

const label: Grouping = {
  column: null,
  none,
  resolve: (ctx, { teams }, given, path) =>
    idOfName(ctx, labelContract, given, path, {
      has: ({ teamId }) => teamId === null || teams === null || teams.has(String(teamId)),
      words: ' for the issues of this board',
      // A board of one team takes labels as its issues do; a board of all teams takes shared labels.
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
  derived: ({ directory }, counted) => named(directory.labels, counted),
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
