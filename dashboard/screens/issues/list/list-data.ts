// Loads a list of issues by group and page, and applies events to what is loaded.
import type { Client, Issue } from '@tatami/sdk/client';
import { both, type FilterTree } from '../../../parts/filter/filter.ts';
import type { Grouping } from '../search.ts';

export type ListedIssue = Pick<
  Issue,
  | 'id'
  | 'identifier'
  | 'title'
  | 'state'
  | 'priority'
  | 'assignee'
  | 'team'
  | 'labels'
  | 'project'
  | 'cycle'
  | 'estimate'
  | 'dueDate'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
> &
  Partial<Pick<Issue, ExtraField>>;

/** Fields that are loaded only while rows show them. */
export const extraFields = ['milestone', 'parent', 'slaDueAt', 'creator', 'completedAt'] as const;
type ExtraField = (typeof extraFields)[number];

const ownFields =
  'identifier,title,state,priority,assignee,team,labels,project,cycle,estimate,dueDate,version,createdAt,updatedAt';

export interface ListQuery {
  readonly filter: FilterTree | undefined;
  /** Id of the member who is subscribed to the issues. */
  readonly subscriber?: string | undefined;
  readonly sort: string;
  readonly group: Grouping | undefined;
  readonly extra?: readonly ExtraField[];
}

const fieldsOf = ({ extra = [] }: ListQuery): string => [ownFields, ...extra].join();

export interface IssueGroup {
  /** Null for the group without a value; for a list without groups, the only group has null too. */
  readonly key: string | null;
  readonly name: string | null;
  readonly count: number;
  readonly items: readonly ListedIssue[];
  /** Cursor of the next page; null if all issues are loaded, undefined if none is. */
  readonly next: string | null | undefined;
}

export interface IssueListData {
  readonly count: number;
  readonly groups: readonly IssueGroup[];
}

/** A multiple of a screen, so that scrolling rarely waits. */
const pageSize = 100;

/** Returns the filter of one group of a list. */
function filterOfGroup({ filter, group }: ListQuery, key: string | null): FilterTree | undefined {
  return group ? both(filter, { [group]: key }) : filter;
}

interface Counted {
  readonly count: number;
  readonly groups: readonly Pick<IssueGroup, 'key' | 'name' | 'count'>[] | null;
}

export async function countIssues(
  client: Client,
  { filter, subscriber, group }: ListQuery,
): Promise<Counted> {
  return client.issues.count({
    ...(filter && { filter: JSON.stringify(filter) }),
    ...(subscriber !== undefined && { subscriber }),
    ...(group && { groupBy: group }),
  });
}

interface PageOfGroup {
  readonly items: readonly ListedIssue[];
  readonly next: string | null;
}

export async function loadPage(
  client: Client,
  query: ListQuery,
  key: string | null,
  after: string | null = null,
): Promise<PageOfGroup> {
  const filter = filterOfGroup(query, key);
  const request = {
    limit: pageSize,
    sort: query.sort,
    fields: fieldsOf(query),
    ...(filter && { filter: JSON.stringify(filter) }),
    ...(query.subscriber !== undefined && { subscriber: query.subscriber }),
    ...(after !== null && { after }),
  };
  const { data, pageInfo } = await client.issues.list(request);
  return {
    items: data as readonly ListedIssue[],
    next: pageInfo.hasNextPage ? pageInfo.endCursor : null,
  };
}

/** Issues of the first groups are loaded with the list until they fill a screen. */
const firstRows = 60;

export async function loadList(client: Client, query: ListQuery): Promise<IssueListData> {
  if (!query.group) {
    // The rows do not wait for the count.
    const [page, { count }] = await Promise.all([loadPage(client, query, null), countIssues(client, query)]);
    const known = page.next === null ? page.items.length : count;
    return { count: known, groups: [{ key: null, name: null, count: known, ...page }] };
  }
  const { count, groups } = await countIssues(client, query);
  let shown = 0;
  const loaded = (groups ?? []).map(async (group): Promise<IssueGroup> => {
    const isShown = shown < firstRows;
    shown += group.count;
    return isShown
      ? { ...group, ...(await loadPage(client, query, group.key)) }
      : { ...group, items: [], next: undefined };
  });
  return { count, groups: await Promise.all(loaded) };
}

/** Adds a page to a group, unless the group has changed since. */
export function withPage(
  data: IssueListData,
  key: string | null,
  after: string | null | undefined,
  page: PageOfGroup,
): IssueListData {
  return {
    ...data,
    groups: data.groups.map((group) => {
      if (group.key !== key || group.next !== after) return group;
      const known = new Set(group.items.map(({ id }) => id));
      return {
        ...group,
        items: [...group.items, ...page.items.filter(({ id }) => !known.has(id))],
        next: page.next,
      };
    }),
  };
}

/** Returns those of the issues that the list contains. */
export async function issuesAmong(
  client: Client,
  query: ListQuery,
  ids: readonly string[],
): Promise<readonly ListedIssue[]> {
  const filter = both(query.filter, { id: ids });
  const request = {
    limit: 100,
    fields: fieldsOf(query),
    filter: JSON.stringify(filter),
    ...(query.subscriber !== undefined && { subscriber: query.subscriber }),
  };
  const { data } = await client.issues.list(request);
  return data as readonly ListedIssue[];
}
