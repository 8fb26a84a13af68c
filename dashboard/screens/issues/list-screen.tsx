// Screen of a list of issues: filters, grid, bulk bar and side panel. Its state is in the URL.
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, type ReactNode } from 'react';
import { useChangePreferences } from '../../data/preferences.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Failed, Loading, Screen } from '../../parts/states.tsx';
import { text } from '../../text/issues.ts';
import { CreateButton } from '../create/create.tsx';
import { Peek } from '../issue/peek.tsx';
import { useDensity } from './density.ts';
import { Display } from './display.tsx';
import { both, type FilterTree } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import type { ListQuery } from './list-data.ts';
import { Rows } from './rows.tsx';
import type { IssueSearch } from './search.ts';
import { useIssueList, type IssueList } from './use-list.ts';
import styles from './issues.module.css';

interface ListScreenProps {
  readonly title: string;
  readonly search: IssueSearch;
  /** Filter that the person cannot remove. */
  readonly fixed?: FilterTree;
  readonly actions?: ReactNode;
  readonly bars?: ReactNode;
  readonly empty?: ReactNode;
}

export function ListScreen({ title, search, fixed, actions, bars, empty }: ListScreenProps): ReactNode {
  const navigate = useNavigate();
  const { filter, group, sort = '-createdAt', peek } = search;
  const { density, rowHeight } = useDensity();
  const changePreferences = useChangePreferences();
  const change = useCallback(
    (part: { readonly [Name in keyof IssueSearch]?: IssueSearch[Name] | undefined }) =>
      void navigate({
        to: '.',
        search: ((before: object) => ({ ...before, ...part })) as never,
        replace: !('peek' in part),
      }),
    [navigate],
  );
  const query = useStable<ListQuery>({
    filter: both(fixed, filter),
    sort,
    group,
  });
  const list = useIssueList(query);
  const bar = (
    <>
      {bars}
      <FilterBar filter={filter} onChange={(next) => change({ filter: next })}>
        <Display
          search={search}
          density={density}
          onChange={(part) => change(part as Partial<IssueSearch>)}
          onDensity={(next) => changePreferences({ density: next })}
        />
      </FilterBar>
    </>
  );
  return (
    <Screen
      title={title}
      heading={<Heading title={title} list={list} />}
      actions={actions}
      bars={bar}
      scrollsItself
    >
      <Content
        list={list}
        empty={<NoIssues filter={filter} empty={empty} onClear={() => change({ filter: undefined })} />}
      >
        <div className={styles.split}>
          <Rows
            name={title}
            list={list}
            query={query}
            rowHeight={rowHeight}
            onPeek={(next) => change({ peek: next })}
          />
          {peek !== undefined && <Peek identifier={peek} onClose={() => change({ peek: undefined })} />}
        </div>
      </Content>
    </Screen>
  );
}

function Heading({ title, list: { data } }: { readonly title: string; readonly list: IssueList }): ReactNode {
  return (
    <>
      {title} <small className="soft">{data && text.count(data.count)}</small>
    </>
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
