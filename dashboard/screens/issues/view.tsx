import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { View } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useClient, useMay } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { FailedScreen, Loading } from '../../parts/states.tsx';
import { notify } from '../../parts/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issues.ts';
import { Star } from '../favorites/star.tsx';
import { both, type FilterTree } from './filter.ts';
import { ListScreen } from './list-screen.tsx';
import { groupings, layouts, type IssueSearch } from './search.ts';
import { EditView, ViewsMenu } from './views-menu.tsx';

export default function ViewScreen(): ReactNode {
  const { id } = useParams({ from: '/views/$id' });
  const search = useSearch({ from: '/views/$id' });
  const client = useClient();
  const view = useQuery({ queryKey: ['views', id], queryFn: () => client.views.get(id) });
  if (view.error) return <FailedScreen error={view.error} retry={() => void view.refetch()} />;
  if (!view.data) return <Loading />;
  const { name, filter } = view.data;
  return (
    <ListScreen
      list={id}
      title={name}
      search={shownSearch(view.data, search)}
      fixed={filter as FilterTree}
      actions={
        <>
          <Star type="view" id={id} />
          <Actions view={view.data} search={search} />
          <ViewsMenu />
        </>
      }
    />
  );
}

/** Layout, grouping and order of the view, unless the person chose others. */
function shownSearch({ layout, groupBy, sort }: View, search: IssueSearch): IssueSearch {
  const group = search.group ?? groupings.find((one) => one === groupBy);
  const shown = search.layout ?? layouts.find((one) => one === layout);
  return {
    ...(sort !== null && sort !== '' && { sort }),
    ...search,
    ...(group && { group }),
    ...(shown && { layout: shown }),
  };
}

function Actions({ view, search }: { readonly view: View; readonly search: IssueSearch }): ReactNode {
  const write = useWrite();
  const navigate = useNavigate();
  const { id, name, filter } = view;
  const mayChange = useMay('views:write');
  const isChanged = [search.filter, search.group, search.sort, search.layout].some(
    (part) => part !== undefined,
  );
  const save = async (): Promise<void> => {
    const saved = await write((client) =>
      client.views.update(id, {
        filter: both(filter as FilterTree, search.filter) ?? {},
        ...(search.sort !== undefined && { sort: search.sort }),
        ...(search.group !== undefined && { groupBy: search.group }),
        ...(search.layout !== undefined && { layout: search.layout }),
      }),
    );
    if (saved) void navigate({ to: '/views/$id', params: { id }, search: {} });
  };
  const remove = async (): Promise<void> => {
    const isDeleted = await write(async (client) => {
      await client.views.delete(id);
      return true;
    });
    if (!isDeleted) return;
    const undo = (): void => void write((client) => client.views.restore(id));
    notify(text.viewDeleted(name), { label: common.undo, run: undo });
    void navigate({ to: '/issues' });
  };
  if (!mayChange) return null;
  return (
    <>
      {isChanged && <Button onClick={() => void save()}>{text.updateView}</Button>}
      <EditView view={view} />
      <Button onClick={() => void remove()}>{common.delete}</Button>
    </>
  );
}
