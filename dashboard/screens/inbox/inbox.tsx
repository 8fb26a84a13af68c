import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { InboxItem, InboxItemQuery } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { Bar, Empty, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/inbox.ts';
import styles from './inbox.module.css';
import { Preview } from './preview.tsx';
import { tabs, type InboxSearch, type Tab } from './search.ts';

const queries: Readonly<Record<Tab, InboxItemQuery>> = {
  unread: { unread: true },
  all: {},
  snoozed: { snoozed: 'only' },
  archived: { archived: 'only' },
};

export default function Inbox(): ReactNode {
  const client = useClient();
  const search: InboxSearch = useSearch({ from: '/inbox' });
  const tab = search.tab ?? 'unread';
  const list = useInfiniteQuery({
    queryKey: ['inbox', 'list', tab],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      client.inbox.list({ ...queries[tab], limit: 50, ...(pageParam !== null && { after: pageParam }) }),
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
  });
  if (list.error && !list.data) return <FailedScreen error={list.error} retry={() => void list.refetch()} />;
  const items = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Screen title={text.inbox} actions={<ReadAll />} bars={<Tabs tab={tab} />} scrollsItself>
      <div className={styles.inbox}>
        <div className={styles.list}>
          {!list.data && <Loading />}
          {list.data && items.length === 0 && <Empty title={text.empty[tab]} hint={text.emptyHint} />}
          {items.length > 0 && <Items items={items} />}
          {list.hasNextPage && (
            <Button onClick={() => void list.fetchNextPage()} disabled={list.isFetchingNextPage}>
              {common.loadMore}
            </Button>
          )}
        </div>
        <Preview />
      </div>
      <Moves items={items} />
    </Screen>
  );
}

function Tabs({ tab }: { readonly tab: Tab }): ReactNode {
  return (
    <Bar label={text.tabList}>
      {tabs.map((one) => (
        <LinkButton
          key={one}
          to="/inbox"
          search={{ tab: one }}
          look={one === tab ? 'primary' : 'plain'}
          aria-current={one === tab ? 'page' : undefined}
        >
          {text.tabs[one]}
        </LinkButton>
      ))}
    </Bar>
  );
}

/** One request marks up to 500 items. */
function ReadAll(): ReactNode {
  const write = useWrite();
  const readAll = async (): Promise<void> => {
    const count = await write(async (client) => {
      for (let sum = 0; ;) {
        const { read, hasMore } = await client.inbox.readAll();
        sum += read;
        if (!hasMore) return sum;
      }
    });
    if (count !== null) notify(text.allRead(count));
    await queryClient.invalidateQueries({ queryKey: ['inbox'] });
  };
  return <Button onClick={() => void readAll()}>{text.readAll}</Button>;
}

function Items({ items }: { readonly items: readonly InboxItem[] }): ReactNode {
  const search = useSearch({ from: '/inbox' });
  return (
    <ul aria-label={text.items}>
      {items.map(({ id, title, reason, readAt, happenedAt, count, actor }) => (
        <li key={id}>
          <Link
            to="/inbox"
            search={{ ...search, item: id }}
            className={styles.item}
            data-item={id}
            aria-current={id === search.item}
          >
            <span className="row">
              {readAt === null && <span className={styles.unread} role="img" aria-label={text.unread} />}
              <span className={`grow cut ${readAt === null ? styles.bold : ''}`}>{title}</span>
            </span>
            <span className="soft row">
              <span className="grow cut">
                {text.reasons[reason]}
                {actor && ` · ${actor.name}`}
                {count > 1 && ` · ${text.similar(count)}`}
              </span>
              <Time at={happenedAt} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Keys that move through the list. */
function Moves({ items }: { readonly items: readonly InboxItem[] }): ReactNode {
  const navigate = useNavigate();
  const search = useSearch({ from: '/inbox' });
  const at = items.findIndex(({ id }) => id === search.item);
  const show = (item: InboxItem | undefined): void => {
    if (!item) return;
    void navigate({ to: '/inbox', search: { ...search, item: item.id }, replace: true });
    document.querySelector<HTMLElement>(`[data-item="${item.id}"]`)?.focus();
  };
  useShortcuts([
    { keys: 'j', label: text.next, run: () => show(items[at + 1]) },
    { keys: 'k', label: text.previous, run: () => show(items[Math.max(0, at - 1)]) },
  ]);
  return null;
}
