import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { Failed, Loading, Screen } from '../../parts/states.tsx';
import { PriorityIcon, StateIcon } from '../../parts/symbols.tsx';

export default function Issues(): ReactNode {
  const client = useClient();
  const list = useInfiniteQuery({
    queryKey: ['issues', 'list'],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      client.issues.list({ limit: 50, ...(pageParam !== null && { after: pageParam }) }),
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
  });
  if (list.error) return <Failed error={list.error} />;
  if (!list.data) return <Loading />;
  return (
    <Screen title="Issues">
      <ul>
        {list.data.pages.flatMap(({ data }) =>
          data.map((issue) => (
            <li key={issue.id} className="row">
              <PriorityIcon priority={issue.priority} /> <StateIcon type={issue.state.type} />{' '}
              {issue.identifier} {issue.title}
            </li>
          )),
        )}
      </ul>
    </Screen>
  );
}
