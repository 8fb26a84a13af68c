// Short list of issues on other screens, such as those of a cycle. It loads further pages on request.
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Issue, Page } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { text } from '../../text/common.ts';
import { Button } from '../button.tsx';
import { Failed, Loading } from '../states.tsx';
import { Avatar, PriorityIcon, StateIcon } from './symbols.tsx';

interface IssueRowsProps {
  /** Name of the list for screen readers. */
  readonly name: string;
  /** Identifies the list in the cache, after `issues`. */
  readonly id: readonly string[];
  readonly page: (after: string | null) => Promise<Page<Issue>>;
  readonly empty: ReactNode;
  /** Controls at the end of a row. */
  readonly actions?: (issue: Issue) => ReactNode;
}

export function IssueRows({ name, id, page, empty, actions }: IssueRowsProps): ReactNode {
  const list = useInfiniteQuery({
    queryKey: ['issues', ...id],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) => page(pageParam),
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
  });
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Loading />;
  const issues = list.data.pages.flatMap(({ data }) => data);
  if (issues.length === 0) return empty;
  return (
    <>
      <ul aria-label={name}>
        {issues.map((issue) => (
          <li key={issue.id} className="row">
            <PriorityIcon priority={issue.priority} />
            <StateIcon type={issue.state.type} name={issue.state.name} />
            <Link
              className="grow cut"
              to="/issues/$identifier"
              params={{ identifier: issue.identifier ?? issue.id }}
            >
              {issue.identifier} {issue.title}
            </Link>
            {issue.assignee && <Avatar name={issue.assignee.name} />}
            {actions?.(issue)}
          </li>
        ))}
      </ul>
      {list.hasNextPage && (
        <Button onClick={() => void list.fetchNextPage()} disabled={list.isFetchingNextPage}>
          {text.loadMore}
        </Button>
      )}
    </>
  );
}
