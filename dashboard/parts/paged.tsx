import type { ReactNode } from 'react';
import type { Pages } from '../data/pages.ts';
import { text } from '../text/common.ts';
import { Button } from './button.tsx';
import { Failed, Loading } from './states.tsx';

interface PagedProps<T> {
  readonly pages: Pages<T>;
  readonly empty: ReactNode;
  readonly children: (items: readonly T[]) => ReactNode;
}

/** Shows a list in its states: failed, loading, empty, and loaded with a button for further pages. */
export function Paged<T>({ pages, empty, children }: PagedProps<T>): ReactNode {
  const { items, error, hasMore, isLoadingMore, loadMore, reload } = pages;
  if (error !== null) return <Failed error={error} retry={reload} />;
  if (!items) return <Loading />;
  if (items.length === 0) return empty;
  return (
    <>
      {children(items)}
      {hasMore && (
        <Button onClick={loadMore} disabled={isLoadingMore}>
          {text.loadMore}
        </Button>
      )}
    </>
  );
}
