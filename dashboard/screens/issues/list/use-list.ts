// The list of a screen: loaded, extended while scrolling, and kept current by events.
import { useQuery } from '@tanstack/react-query';
import type { Client, TatamiEvent } from '@tatami/sdk/client';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { queryClient, useApp } from '../../../data/provider.tsx';
import { notifyProblem } from '../../../parts/overlay/toast.tsx';
import { applyChanges } from './list-changes.ts';
import {
  countIssues,
  issuesAmong,
  loadList,
  loadPage,
  withPage,
  type IssueGroup,
  type IssueListData,
  type ListQuery,
} from './list-data.ts';

/** Events of a burst are applied together. */
const batchMs = 60;
/** With more changed issues, loading the list again costs less. */
const changedMax = 100;

export interface IssueList {
  readonly data: IssueListData | undefined;
  readonly error: unknown;
  reload(): void;
  /** Loads the next page of a group, or its first. Does nothing while it loads. */
  loadMore(group: IssueGroup): void;
  /** Loads all that is missing. Returns the ids of all issues. @throws ApiCallError */
  loadAll(): Promise<readonly string[]>;
}

export function useIssueList(query: ListQuery): IssueList {
  const { client, live } = useApp();
  const key = useMemo(() => ['issues', 'list', query] as const, [query]);
  const list = useQuery({
    queryKey: key,
    queryFn: () => loadList(client, query),
    meta: { followsEvents: true },
  });
  const loading = useRef(new Set<string>());
  const loadMore = useCallback(
    (group: IssueGroup): void => {
      const page = `${group.key} ${group.next}`;
      if (group.next === null || loading.current.has(page)) return;
      loading.current.add(page);
      loadPage(client, query, group.key, group.next ?? null)
        .then((loaded) =>
          queryClient.setQueryData<IssueListData>(
            key,
            (data) => data && withPage(data, group.key, group.next, loaded),
          ),
        )
        .catch(notifyProblem)
        .finally(() => loading.current.delete(page));
    },
    [client, key, query],
  );
  useEffect(() => {
    const follower = new ListFollower(client, query, key);
    const stop = live.listen((event) => follower.note(event));
    return () => {
      stop();
      follower.stop();
    };
  }, [client, live, key, query]);
  const loadAll = useCallback(async () => {
    for (;;) {
      const data = queryClient.getQueryData<IssueListData>(key);
      const group = data?.groups.find(({ next }) => next !== null);
      if (!group) return data?.groups.flatMap(({ items }) => items.map(({ id }) => id)) ?? [];
      const page = await loadPage(client, query, group.key, group.next ?? null);
      queryClient.setQueryData<IssueListData>(
        key,
        (before) => before && withPage(before, group.key, group.next, page),
      );
    }
  }, [client, key, query]);
  return { data: list.data, error: list.error, reload: () => void list.refetch(), loadMore, loadAll };
}

/** Events that change no list. */
const unlisted = /^issue\.(relation|attachment)/;
const ofSubscriber = /^issue\.(un)?subscribed$/;

/** Finds out by one request which changed issues the list contains, and moves them to their place. */
class ListFollower {
  readonly #client: Client;
  readonly #query: ListQuery;
  readonly #key: readonly ['issues', 'list', ListQuery];
  #changed = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isBusy = false;

  constructor(client: Client, query: ListQuery, key: readonly ['issues', 'list', ListQuery]) {
    this.#client = client;
    this.#query = query;
    this.#key = key;
  }

  note({ type, data }: TatamiEvent): void {
    if (!type.startsWith('issue.') || unlisted.test(type)) return;
    const isOfSubscriber = ofSubscriber.test(type);
    if (isOfSubscriber && this.#query.subscriber === undefined) return;
    const { id, issue } = data as { readonly id: string; readonly issue?: { readonly id: string } };
    this.#changed.add(isOfSubscriber ? issue!.id : id);
    this.#timer ??= setTimeout(() => void this.#follow(), batchMs);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    // Events that a hidden list misses.
    if (this.#changed.size > 0 || this.#isBusy) void queryClient.invalidateQueries({ queryKey: this.#key });
    queryClient.getQueryCache().find({ queryKey: this.#key })?.invalidate();
  }

  async #follow(): Promise<void> {
    this.#timer = null;
    if (this.#isBusy) {
      // The next batch follows when this one has been applied.
      return;
    }
    const changed = this.#changed;
    this.#changed = new Set();
    this.#isBusy = true;
    try {
      if (!(await this.#apply(changed))) await queryClient.invalidateQueries({ queryKey: this.#key });
    } catch (error) {
      // The stream resumes after a broken connection, and the list is loaded again then.
      console.debug(error);
    } finally {
      this.#isBusy = false;
      if (this.#changed.size > 0) this.#timer ??= setTimeout(() => void this.#follow(), batchMs);
    }
  }

  async #apply(changed: ReadonlySet<string>): Promise<boolean> {
    if (changed.size > changedMax) return false;
    const [members, counted] = await Promise.all([
      issuesAmong(this.#client, this.#query, [...changed]),
      countIssues(this.#client, this.#query),
    ]);
    const data = queryClient.getQueryData<IssueListData>(this.#key);
    if (!data) return true;
    const after = applyChanges(data, this.#query, { changed, members, counted });
    if (after) queryClient.setQueryData(this.#key, after);
    return after !== null;
  }
}
