// Search parameters of the issue list: the whole state of the list is in its URL.

export interface IssueSearch {
  /** Filter tree of the API. */
  readonly filter?: Readonly<Record<string, unknown>>;
  readonly sort?: string;
  readonly group?: string;
}

export function issueSearch(search: Readonly<Record<string, unknown>>): IssueSearch {
  const { filter, sort, group } = search;
  return {
    ...(typeof filter === 'object' &&
      filter !== null && { filter: filter as Readonly<Record<string, unknown>> }),
    ...(typeof sort === 'string' && { sort }),
    ...(typeof group === 'string' && { group }),
  };
}
