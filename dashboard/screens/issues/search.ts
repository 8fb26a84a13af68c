// Search parameters of the issue list: the whole state of the list is in its URL.
import type { FilterTree } from '../../parts/filter/filter.ts';

export const groupings = ['state', 'assignee', 'priority', 'label', 'project', 'cycle', 'team'] as const;
export type Grouping = (typeof groupings)[number];

/** Groupings that can be columns of a board. */
export const boardGroupings = ['state', 'assignee', 'priority', 'label'] as const;
export type BoardGrouping = (typeof boardGroupings)[number];

/** Groupings that can be swimlanes of a board. */
export const laneGroupings = ['state', 'assignee', 'priority'] as const;
export type LaneGrouping = (typeof laneGroupings)[number];

export const layouts = ['list', 'board'] as const;
type Layout = (typeof layouts)[number];

export const sorts = ['-createdAt', '-updatedAt', 'priority', 'dueDate', 'title'] as const;

export const mineParts = ['assigned', 'created', 'subscribed'] as const;
export type Mine = (typeof mineParts)[number];

export interface IssueSearch {
  /** Filter tree of the API. */
  readonly filter?: FilterTree;
  readonly sort?: string;
  readonly group?: Grouping;
  readonly layout?: Layout;
  readonly lanes?: LaneGrouping;
  /** Identifier of the issue in the side panel. */
  readonly peek?: string;
  /** Part of "My issues". */
  readonly mine?: Mine;
  /** Fields that rows show, unless they are the default ones. */
  readonly show?: string;
  readonly density?: string;
}

export function issueSearch(search: Readonly<Record<string, unknown>>): IssueSearch {
  const { filter, sort, group, layout, lanes, peek, mine, show, density } = search;
  const shown = layouts.find((one) => one === layout);
  const grouping = groupings.find((one) => one === group);
  const swimlanes = laneGroupings.find((one) => one === lanes);
  const part = mineParts.find((one) => one === mine);
  return {
    ...(typeof filter === 'object' && filter !== null && { filter: filter as FilterTree }),
    ...(typeof sort === 'string' && { sort }),
    ...(grouping && { group: grouping }),
    ...(shown && { layout: shown }),
    ...(swimlanes && { lanes: swimlanes }),
    ...(typeof peek === 'string' && { peek }),
    ...(part && { mine: part }),
    ...(typeof show === 'string' && { show }),
    ...(typeof density === 'string' && { density }),
  };
}

/** Returns the field of the columns of a board. */
export const columnsOf = ({ group }: IssueSearch): BoardGrouping =>
  boardGroupings.find((one) => one === group) ?? 'state';

/** Returns the field of the swimlanes of a board; undefined for none. The columns have another field. */
export const lanesOf = (search: IssueSearch): LaneGrouping | undefined =>
  search.lanes === columnsOf(search) ? undefined : search.lanes;
