// Search parameters of the issue list: the whole state of the list is in its URL.
import type { FilterTree } from './filter.ts';

export const groupings = ['state', 'assignee', 'priority', 'label', 'project', 'cycle', 'team'] as const;
export type Grouping = (typeof groupings)[number];

export const sorts = ['-createdAt', '-updatedAt', 'priority', 'dueDate', 'title'] as const;

export const mineParts = ['assigned', 'created', 'subscribed'] as const;
export type Mine = (typeof mineParts)[number];

export interface IssueSearch {
  /** Filter tree of the API. */
  readonly filter?: FilterTree;
  readonly sort?: string;
  readonly group?: Grouping;
  /** Identifier of the issue in the side panel. */
  readonly peek?: string;
  /** Part of "My issues". */
  readonly mine?: Mine;
}

export function issueSearch(search: Readonly<Record<string, unknown>>): IssueSearch {
  const { filter, sort, group, peek, mine } = search;
  const grouping = groupings.find((one) => one === group);
  const part = mineParts.find((one) => one === mine);
  return {
    ...(typeof filter === 'object' && filter !== null && { filter: filter as FilterTree }),
    ...(typeof sort === 'string' && { sort }),
    ...(grouping && { group: grouping }),
    ...(typeof peek === 'string' && { peek }),
    ...(part && { mine: part }),
  };
}
