// A list that loads further pages on request.
import { useInfiniteQuery, type QueryKey } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Page } from '@tatami/sdk/client';
import type { Follows } from './live.ts';

export interface Pages<T> {
  /** Undefined while the first page loads. */
  readonly items: readonly T[] | undefined;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  loadMore(): void;
  reload(): void;
}

interface PagesOptions extends Pick<Follows, 'follows'> {
  /** Interval in which the list is read again, for objects without events. The browser pauses it in hidden tabs. */
  readonly refreshMs?: number;
}

export function usePages<T>(
  key: QueryKey,
  page: (after: { readonly after?: string }, signal: AbortSignal) => Promise<Page<T>>,
  { refreshMs, follows }: PagesOptions = {},
): Pages<T> {
  const list = useInfiniteQuery({
    queryKey: key,
    initialPageParam: null as string | null,
    // React Query aborts reads only if the function takes the signal.
    queryFn: ({ pageParam, signal }) => page(pageParam === null ? {} : { after: pageParam }, signal),
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
    ...(follows && { meta: { follows } }),
    ...(refreshMs !== undefined && { refetchInterval: refreshMs }),
  });
  // The same array until the data changes, for what is derived from it.
  const items = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data]);
  return {
    items,
    error: list.error,
    hasMore: list.hasNextPage,
    isLoadingMore: list.isFetchingNextPage,
    loadMore: () => void list.fetchNextPage(),
    reload: () => void list.refetch(),
  };
}
