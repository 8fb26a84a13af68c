// Moves changed issues to where they belong in a loaded list.
import type { Issue } from '@tatami/sdk/client';
import type { IssueGroup, IssueListData, ListedIssue, ListQuery } from './list-data.ts';
import type { Grouping } from '../search.ts';

const priorityOrder: readonly Issue['priority'][] = ['urgent', 'high', 'medium', 'low', 'none'];

type Compare = (a: ListedIssue, b: ListedIssue) => number;
const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Orders that the app can compute itself, as the API does. */
const orders: Readonly<Record<string, Compare>> = {
  createdAt: (a, b) => byText(a.createdAt, b.createdAt),
  updatedAt: (a, b) => byText(a.updatedAt, b.updatedAt),
  priority: (a, b) => priorityOrder.indexOf(a.priority) - priorityOrder.indexOf(b.priority),
};

/** @returns null for an order that only the API knows */
export function orderOf(sort: string): Compare | null {
  const keys = sort.split(',').map((key) => {
    const compare = orders[key.replace(/^-/, '')];
    return compare && { compare, sign: key.startsWith('-') ? -1 : 1 };
  });
  if (keys.includes(undefined)) return null;
  const last = keys.at(-1)!.sign;
  return (a, b) => {
    for (const key of keys) {
      const order = key!.sign * key!.compare(a, b);
      if (order !== 0) return order;
    }
    // The API appends the id, in the direction of the last key.
    return last * byText(a.id, b.id);
  };
}

/** Returns the groups of an issue; an issue with several labels is in each. */
export function keysOf(group: Grouping | undefined, issue: ListedIssue): readonly (string | null)[] {
  switch (group) {
    case undefined:
      return [null];
    case 'label':
      return issue.labels.length === 0 ? [null] : issue.labels.map(({ id }) => id);
    case 'priority':
      return [issue.priority];
    default:
      return [issue[group]?.id ?? null];
  }
}

interface Changes {
  readonly changed: ReadonlySet<string>;
  /** Changed issues that belong to the list. */
  readonly members: readonly ListedIssue[];
  /** Current counts; `groups` is null for a list without groups. */
  readonly counted: {
    readonly count: number;
    readonly groups: readonly Pick<IssueGroup, 'key' | 'name' | 'count'>[] | null;
  };
}

/** @returns the list with the changed issues where they belong; null if it must be loaded again */
export function applyChanges(data: IssueListData, query: ListQuery, changes: Changes): IssueListData | null {
  const compare = orderOf(query.sort);
  if (!compare) return null;
  const { count, groups } = changes.counted;
  const before = new Map(data.groups.map((group) => [group.key, group]));
  const current = groups ?? [{ key: null, name: null, count: Math.max(0, count) }];
  return {
    count,
    groups: current.map((facts) => {
      const group = before.get(facts.key) ?? { ...facts, items: [], next: undefined };
      const own = changes.members.filter((issue) => keysOf(query.group, issue).includes(facts.key));
      return placed({ ...group, ...facts }, own, changes.changed, compare);
    }),
  };
}

function placed(
  group: IssueGroup,
  own: readonly ListedIssue[],
  changed: ReadonlySet<string>,
  compare: Compare,
): IssueGroup {
  // A group of which nothing is loaded loads its first page when it is shown.
  if (group.next === undefined) return group;
  const isAffected = own.length > 0 || group.items.some(({ id }) => changed.has(id));
  if (!isAffected) return group;
  const items = group.items.filter(({ id }) => !changed.has(id));
  for (const issue of own) {
    const at = items.findIndex((other) => compare(issue, other) < 0);
    // Beyond the last loaded issue there may be others before this one.
    if (at >= 0) items.splice(at, 0, issue);
    else if (group.next === null) items.push(issue);
  }
  return { ...group, items };
}
