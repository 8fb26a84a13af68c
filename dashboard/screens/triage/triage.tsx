// Triage: the queue, and one issue at a time with one key per decision.
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Client, Issue } from '@tatami/sdk/client';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTeams } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { Bar, Empty, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { SelectField } from '../../parts/fields.tsx';
import { PriorityIcon } from '../../parts/symbols.tsx';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/triage.ts';
import { Decisions } from './decisions.tsx';
import { Evidence } from './evidence.tsx';
import { following } from './search.ts';
import styles from './triage.module.css';

const queuePage = (client: Client, team: string | undefined, after: string | null) =>
  client.issues.list({
    state: 'triage',
    filter: { snoozedUntil: null },
    sort: 'createdAt',
    limit: 50,
    ...(team !== undefined && { team }),
    ...(after !== null && { after }),
  });

export default function Triage(): ReactNode {
  const client = useClient();
  const { team } = useSearch({ from: '/triage' });
  const queue = useInfiniteQuery({
    queryKey: ['issues', 'triage', team ?? ''],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) => queuePage(client, team, pageParam),
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
  });
  // Decided issues leave the queue at once, before the server answers.
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  if (queue.error && !queue.data)
    return <FailedScreen error={queue.error} retry={() => void queue.refetch()} />;
  const all = queue.data?.pages.flatMap(({ data }) => data) ?? [];
  const issues = all.filter(({ id, state }) => state.type === 'triage' && !decided.has(id));
  const isEmpty = queue.isSuccess && issues.length === 0 && !queue.hasNextPage;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = queue;
  return (
    <Screen title={text.triage} bars={<TeamBar />} scrollsItself>
      {queue.data ? (
        <p role="status" className={styles.progress}>
          {text.progress(decided.size, issues.length, hasNextPage)}
        </p>
      ) : (
        <Loading />
      )}
      {isEmpty && <Empty title={text.empty} hint={text.emptyHint} />}
      {issues.length > 0 && <Queue issues={issues} setDecided={setDecided} />}
      {hasNextPage && (
        <Button onClick={() => void fetchNextPage()} disabled={isFetchingNextPage}>
          {common.loadMore}
        </Button>
      )}
    </Screen>
  );
}

function TeamBar(): ReactNode {
  const teams = useTeams();
  const navigate = useNavigate();
  const { team } = useSearch({ from: '/triage' });
  return (
    <Bar label={text.team}>
      <SelectField
        label={text.team}
        value={team ?? ''}
        options={[['', text.allTeams], ...teams.map(({ key, name }) => [key, name] as const)]}
        onPick={(key) => void navigate({ to: '/triage', search: key === '' ? {} : { team: key } })}
      />
    </Bar>
  );
}

interface QueueProps {
  readonly issues: readonly Issue[];
  readonly setDecided: (decided: (before: ReadonlySet<string>) => ReadonlySet<string>) => void;
}

/** Shows an issue of the queue, and focuses its heading if a key or decision led there. */
function useShown(issues: readonly Issue[]) {
  const navigate = useNavigate();
  const search = useSearch({ from: '/triage' });
  const heading = useRef<HTMLHeadingElement>(null);
  const isMoving = useRef(false);
  const last = useRef('');
  // The identifier changes when the issue moves to another team.
  const shown =
    issues.find(({ identifier }) => identifier === search.issue) ??
    issues.find(({ id }) => id === last.current) ??
    issues[0]!;
  last.current = shown.id;
  useEffect(() => {
    if (isMoving.current) heading.current?.focus();
    isMoving.current = false;
  }, [shown.id]);
  const show = (issue: Issue | null | undefined): void => {
    if (!issue) return;
    isMoving.current = true;
    void navigate({
      to: '/triage',
      search: { ...search, issue: issue.identifier ?? issue.id },
      replace: true,
    });
  };
  return { shown, show, heading };
}

function Queue({ issues, setDecided }: QueueProps): ReactNode {
  const { shown, show, heading } = useShown(issues);
  const at = issues.indexOf(shown);
  useShortcuts([
    { keys: 'j', label: text.next, run: () => show(issues[at + 1]) },
    { keys: 'k', label: text.previous, run: () => show(issues[at - 1]) },
  ]);
  return (
    <div className={styles.triage}>
      <IssueLinks issues={issues} shown={shown} />
      <section className={styles.issue} aria-label={shown.identifier ?? shown.title}>
        <h2 ref={heading} tabIndex={-1}>
          {shown.identifier} {shown.title}
        </h2>
        <Decisions
          key={shown.id}
          issue={shown}
          onDecided={() => {
            show(following(issues, shown.id));
            setDecided((before) => new Set([...before, shown.id]));
          }}
          onReturned={(id) => setDecided((before) => new Set([...before].filter((one) => one !== id)))}
        />
        <p className="soft">
          {text.createdBy} {shown.creator.name} · {shown.team.name} ·{' '}
          <Link
            to="/issues/$identifier"
            params={{ identifier: shown.identifier ?? shown.id }}
            aria-label={`${text.openIssue} ${shown.identifier}`}
          >
            {text.openIssue}
          </Link>
        </p>
        {shown.description === '' ? (
          <p className="soft">{text.noDescription}</p>
        ) : (
          <Markdown source={shown.description} />
        )}
        <Evidence issue={shown} />
      </section>
    </div>
  );
}

interface LinksProps {
  readonly issues: readonly Issue[];
  readonly shown: Issue;
}

function IssueLinks({ issues, shown }: LinksProps): ReactNode {
  const search = useSearch({ from: '/triage' });
  return (
    <ul aria-label={text.queue} className={styles.queue}>
      {issues.map((issue) => (
        <li key={issue.id}>
          <Link
            to="/triage"
            search={{ ...search, issue: issue.identifier ?? issue.id }}
            className={styles.link}
            aria-current={issue.id === shown.id}
          >
            <PriorityIcon priority={issue.priority} />
            <span className="cut">
              {issue.identifier} {issue.title}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
