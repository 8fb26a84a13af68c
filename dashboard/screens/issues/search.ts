// Search parameters of the issue list: the whole state of the list is in its URL.
import type { FilterTree } from './filter.ts';

export const groupings = ['state', 'assignee', 'priority', 'label', 'project', 'cycle', 'team'] as const;
export type Grouping = (typeof groupings)[number];

export const sorts = ['-createdAt', '-updatedAt', 'priority', 'dueDate', 'title'] as const;

export interface IssueSearch {
  /** Filter tree of the API. */
  readonly filter?: FilterTree;
  readonly sort?: string;
  readonly group?: Grouping;
  /** Identifier of the issue in the side panel. */
  readonly peek?: string;
  /** Part of "My issues". */
  readonly mine?: 'assigned' | 'created';
  /** Fields that rows show, unless they are the default ones. */
  readonly show?: string;
  readonly density?: string;
}

export function issueSearch(search: Readonly<Record<string, unknown>>): IssueSearch {
  const { filter, sort, group, peek, mine, show, density } = search;
  const grouping = groupings.find((one) => one === group);
  const part = (['assigned', 'created'] as const).find((one) => one === mine);
  return {
    ...(typeof filter === 'object' && filter !== null && { filter: filter as FilterTree }),
    ...(typeof sort === 'string' && { sort }),
    ...(grouping && { group: grouping }),
    ...(typeof peek === 'string' && { peek }),
    ...(part && { mine: part }),
    ...(typeof show === 'string' && { show }),
    ...(typeof density === 'string' && { density }),
  };
}
