// Triage: the queue, and one issue at a time with one key per decision.
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Client, Issue } from '@tatami/sdk/client';
import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Markdown } from '../../parts/markdown/markdown.tsx';
import { Empty, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { PriorityIcon } from '../../parts/issue/symbols.tsx';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/triage.ts';
import { FilterBar } from '../../parts/filter/filter-bar.tsx';
import { both, chipFields, type FilterTree } from '../../parts/filter/filter.ts';
import { Decisions } from './decisions.tsx';
import { Evidence } from './evidence.tsx';
import { following, type TriageSearch } from './search.ts';
import { useUndo, type OfferUndo } from './undo.ts';
import styles from './triage.module.css';

const queuePage = (client: Client, filter: FilterTree | undefined, after: string | null) =>
  client.issues.list({
    state: 'triage',
    filter: JSON.stringify(both({ snoozedUntil: null }, filter)),
    sort: 'createdAt',
    limit: 50,
    ...(after !== null && { after }),
  });

/** The filters of the queue. All its issues have a state of the same type. */
const fields = chipFields.filter((field) => field !== 'state');

function useQueue(filter: FilterTree | undefined) {
  const client = useClient();
  const queue = useInfiniteQuery({
    queryKey: ['issues', 'triage', JSON.stringify(filter) ?? ''],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) => queuePage(client, filter, pageParam),
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
  });
  // Decided issues leave the queue at once, before the server answers.
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const all = queue.data?.pages.flatMap(({ data }) => data) ?? [];
  return {
    queue,
    issues: all.filter(({ id, state }) => state.type === 'triage' && !decided.has(id)),
    decided: decided.size,
    leave: (id: string) => setDecided((before) => new Set([...before, id])),
    comeBack: (id: string) => setDecided((before) => new Set([...before].filter((one) => one !== id))),
  };
}

export default function Triage(): ReactNode {
  const navigate = useNavigate();
  const { filter } = useSearch({ from: '/triage' });
  const { queue, issues, decided, leave, comeBack } = useQueue(filter);
  const isMoving = useRef(false);
  const show = (issue: string): void => {
    isMoving.current = true;
    void navigate({ to: '/triage', search: (before: TriageSearch) => ({ ...before, issue }), replace: true });
  };
  const setFilter = (next: FilterTree | undefined): void =>
    void navigate({ to: '/triage', search: next ? { filter: next } : {} });
  const offerUndo = useUndo((id) => {
    comeBack(id);
    show(id);
  });
  if (queue.error && !queue.data)
    return <FailedScreen error={queue.error} retry={() => void queue.refetch()} />;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = queue;
  return (
    <Screen
      title={text.triage}
      bars={<FilterBar filter={filter} onChange={setFilter} fields={fields} />}
      scrollsItself
    >
      {queue.data ? (
        <p role="status" className={styles.progress}>
          {text.progress(decided, issues.length, hasNextPage)}
        </p>
      ) : (
        <Loading />
      )}
      {queue.isSuccess && issues.length === 0 && !hasNextPage && (
        <NoIssues isFiltered={filter !== undefined} onClear={() => setFilter(undefined)} />
      )}
      {issues.length > 0 && (
        <Queue
          issues={issues}
          isMoving={isMoving}
          onShow={show}
          onDecided={leave}
          onReturned={comeBack}
          offerUndo={offerUndo}
        />
      )}
      {hasNextPage && (
        <Button onClick={() => void fetchNextPage()} disabled={isFetchingNextPage}>
          {common.loadMore}
        </Button>
      )}
    </Screen>
  );
}

interface NoIssuesProps {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

function NoIssues({ isFiltered, onClear }: NoIssuesProps): ReactNode {
  if (!isFiltered) return <Empty title={text.empty} hint={text.emptyHint} />;
  const clear = <Button onClick={onClear}>{text.clear}</Button>;
  return <Empty title={text.noMatch} hint={text.noMatchHint} action={clear} />;
}

interface QueueProps {
  readonly issues: readonly Issue[];
  /** True if a key, a decision or its undo chose the issue that is shown next. */
  readonly isMoving: RefObject<boolean>;
  readonly onShow: (issue: string) => void;
  readonly onDecided: (id: string) => void;
  readonly onReturned: (id: string) => void;
  readonly offerUndo: OfferUndo;
}

/** Returns the issue to show, whose heading is focused if a key or decision led there. */
function useShown({ issues, isMoving, onShow }: QueueProps) {
  const search = useSearch({ from: '/triage' });
  const heading = useRef<HTMLHeadingElement>(null);
  const last = useRef('');
  // The identifier changes when the issue moves to another team.
  const shown =
    issues.find(({ id, identifier }) => identifier === search.issue || id === search.issue) ??
    issues.find(({ id }) => id === last.current) ??
    issues[0]!;
  last.current = shown.id;
  useEffect(() => {
    if (isMoving.current) heading.current?.focus();
    isMoving.current = false;
  }, [shown.id, isMoving]);
  const show = (issue: Issue | null | undefined): void => {
    if (issue) onShow(issue.identifier ?? issue.id);
  };
  return { shown, show, heading };
}

function Queue(props: QueueProps): ReactNode {
  const { issues, onDecided, onReturned, offerUndo } = props;
  const { shown, show, heading } = useShown(props);
  const at = issues.indexOf(shown);
  useShortcuts([
    { keys: 'j', label: text.next, run: () => show(issues[at + 1]) },
    { keys: 'k', label: text.previous, run: () => show(issues[at - 1]) },
  ]);
  const decide = (): void => {
    show(following(issues, shown.id));
    onDecided(shown.id);
  };
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
          onDecided={decide}
          onReturned={onReturned}
          offerUndo={offerUndo}
        />
        <Facts issue={shown} />
        {shown.description === '' ? (
          <p className="soft">{text.noDescription}</p>
        ) : (
          <Markdown source={shown.description} />
        )}
        <Evidence issue={shown} offerUndo={offerUndo} />
      </section>
    </div>
  );
}

/** Creator of the issue, and the fields that decisions change. */
function Facts({ issue }: { readonly issue: Issue }): ReactNode {
  const { identifier, id, creator, team, priority, labels } = issue;
  return (
    <p className="soft row wrap">
      <span>
        {text.createdBy} {creator.name} · {team.name} · {common.priorities[priority]}
      </span>
      {labels.map((label) => (
        <span key={label.id} className="chip">
          {label.name}
        </span>
      ))}
      <Link
        to="/issues/$identifier"
        params={{ identifier: identifier ?? id }}
        aria-label={`${text.openIssue} ${identifier}`}
      >
        {text.openIssue}
      </Link>
    </p>
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
