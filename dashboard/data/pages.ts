// A list that loads further pages on request.
import { useInfiniteQuery, type QueryKey } from '@tanstack/react-query';
import type { Page } from '@tatami/sdk/client';

export interface Pages<T> {
  /** Undefined while the first page loads. */
  readonly items: readonly T[] | undefined;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  loadMore(): void;
  reload(): void;
}

interface PagesOptions {
  /** Interval in which the list is read again, for objects without events. The browser pauses it in hidden tabs. */
  readonly refreshMs?: number;
}

export function usePages<T>(
  key: QueryKey,
  page: (after: { readonly after?: string }) => Promise<Page<T>>,
  { refreshMs }: PagesOptions = {},
): Pages<T> {
  const list = useInfiniteQuery({
    queryKey: key,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) => page(pageParam === null ? {} : { after: pageParam }),
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
    ...(refreshMs !== undefined && { refetchInterval: refreshMs }),
  });
  return {
    items: list.data?.pages.flatMap(({ data }) => data),
    error: list.error,
    hasMore: list.hasNextPage,
    isLoadingMore: list.isFetchingNextPage,
    loadMore: () => void list.fetchNextPage(),
    reload: () => void list.refetch(),
  };
}
