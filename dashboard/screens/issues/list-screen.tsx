// Screen of a list of issues: filters, side panel, and the issues as a grid or a board. Its state is in the URL.
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { Empty, Failed, Loading, Screen } from '../../parts/states.tsx';
import { text } from '../../text/issues.ts';
import { CreateButton } from '../create/create.tsx';
import type { ListBoardQuery } from '../boards/list-board.tsx';
import { Peek } from '../issue/peek.tsx';
import { useDisplay, type ListDisplay } from './display/display.ts';
import { DisplayMenus } from './display/display-menus.tsx';
import { both, changedFilter, conditionsOf, filterOf, type FilterTree } from '../../parts/filter/filter.ts';
import { FilterBar } from '../../parts/filter/filter-bar.tsx';
import { extraFields, type ListQuery } from './list/list-data.ts';
import { Rows } from './rows/rows.tsx';
import { columnsOf, lanesOf, type IssueSearch } from './search.ts';
import { useIssueList, type IssueList } from './list/use-list.ts';
import styles from './issues.module.css';

const ListBoard = lazy(() => import('../boards/list-board.tsx'));

interface ListScreenProps {
  /** Path of the screen or id of the view, by which the browser remembers the display of the list. */
  readonly list: string;
  readonly title: string;
  readonly search: IssueSearch;
  /** Filter that the person cannot remove. */
  readonly fixed?: FilterTree;
  /** Filter of the view. The address has a filter only while it differs. */
  readonly ofView?: FilterTree;
  /** Member whose subscriptions are listed; by default all issues are. */
  readonly subscriber?: string;
  readonly actions?: ReactNode;
  readonly bars?: ReactNode;
  readonly empty?: ReactNode;
}

/** Returns a function that changes the address. An opened issue is a step back in the history of the browser. */
function useSearchChange() {
  const navigate = useNavigate();
  return useCallback(
    (part: { readonly [Name in keyof IssueSearch]?: IssueSearch[Name] | undefined }) =>
      navigate({
        to: '.',
        search: ((before: object) => ({ ...before, ...part })) as never,
        replace: !('peek' in part),
      }),
    [navigate],
  );
}

export function ListScreen(props: ListScreenProps): ReactNode {
  const { title, search, fixed, ofView, subscriber, actions, bars, empty } = props;
  const change = useSearchChange();
  const { group, layout, sort = '-createdAt', peek } = search;
  const filter = filterOf(conditionsOf(search.filter ?? ofView));
  const [count, setCount] = useState<string>();
  const setFilter = (next: FilterTree | undefined): void =>
    void change({ filter: ofView ? changedFilter(next, ofView) : next });
  const display = useDisplay(props.list, search, (part) => void change(part));
  const extra = extraFields.filter((field) => display.fields.includes(field));
  const selection = { filter: both(fixed, filter), subscriber };
  const bar = (
    <>
      {bars}
      <FilterBar filter={filter} onChange={setFilter}>
        <DisplayMenus
          search={search}
          display={display}
          onChange={(part) => void change(part as Partial<IssueSearch>)}
        />
      </FilterBar>
    </>
  );
  const shared = {
    empty: <NoIssues filter={filter} empty={empty} onClear={() => setFilter(undefined)} />,
    peek: (onClose?: () => void) =>
      peek !== undefined && (
        <Peek identifier={peek} onClose={() => void change({ peek: undefined }).then(onClose)} />
      ),
    onCount: setCount,
  };
  const heading = (
    <>
      {title} <small className="soft">{count}</small>
    </>
  );
  // Both layouts share the frame, so that the focus stays on the button that switches them.
  return (
    <Screen title={title} heading={heading} actions={actions} bars={bar} scrollsItself>
      {layout === 'board' ? (
        <BoardLayout
          {...shared}
          query={{ ...selection, sort, groupBy: columnsOf(search), lanes: lanesOf(search) }}
        />
      ) : (
        <ListLayout
          {...shared}
          name={title}
          query={{ ...selection, sort, group, ...(extra.length > 0 && { extra }) }}
          display={display}
          onPeek={(next) => void change({ peek: next })}
        />
      )}
    </Screen>
  );
}

interface LayoutProps {
  readonly empty: ReactNode;
  readonly peek: (onClose?: () => void) => ReactNode;
  readonly onCount: (count: string | undefined) => void;
}

function BoardLayout({ query, ...shared }: LayoutProps & { readonly query: ListBoardQuery }): ReactNode {
  return (
    <Suspense fallback={<Loading />}>
      <ListBoard {...shared} query={useStable(query)} />
    </Suspense>
  );
}

interface ListLayoutProps extends LayoutProps {
  readonly name: string;
  readonly query: ListQuery;
  readonly display: ListDisplay;
  readonly onPeek: (identifier: string) => void;
}

function ListLayout({ query, empty, peek, onCount, ...rows }: ListLayoutProps): ReactNode {
  const stable = useStable(query);
  const list = useIssueList(stable);
  const count = list.data?.count;
  useEffect(() => onCount(count === undefined ? undefined : text.count(count)), [count, onCount]);
  return (
    <Content list={list} empty={empty}>
      <div className={styles.split}>
        <Rows {...rows} list={list} query={stable} />
        {peek()}
      </div>
    </Content>
  );
}

interface ContentProps {
  readonly list: IssueList;
  readonly empty: ReactNode;
  readonly children: ReactNode;
}

function Content({ list: { data, error, reload }, empty, children }: ContentProps): ReactNode {
  if (error) return <Failed error={error} retry={reload} />;
  if (!data) return <Loading />;
  return data.groups.every(({ items, next }) => items.length === 0 && next === null) ? empty : children;
}

/** Returns the same object while its content is the same. */
function useStable<T>(value: T): T {
  const content = JSON.stringify(value);
  return useMemo(() => JSON.parse(content) as T, [content]);
}

interface NoIssuesProps {
  readonly filter: FilterTree | undefined;
  readonly empty: ReactNode;
  readonly onClear: () => void;
}

function NoIssues({ filter, empty, onClear }: NoIssuesProps): ReactNode {
  if (filter)
    return (
      <Empty
        title={text.noMatch}
        hint={text.noMatchHint}
        action={<Button onClick={onClear}>{text.clear}</Button>}
      />
    );
  return empty ?? <Empty title={text.empty} hint={text.emptyHint} action={<CreateButton />} />;
}
