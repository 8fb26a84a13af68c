import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { View, ViewPatch } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { queryClient, useClient, useMay } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { CopyLink } from '../../parts/copy-link.tsx';
import { FailedScreen, Loading } from '../../parts/states.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issues.ts';
import { Star } from '../favorites/star.tsx';
import { changedFilter, type FilterTree } from '../../parts/filter/filter.ts';
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
      ofView={filter as FilterTree}
      actions={
        <>
          <Star type="view" id={id} />
          <CopyLink url={view.data.url} />
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

const unchanged = { filter: undefined, sort: undefined, group: undefined, layout: undefined };

/** Returns what the address changes of the view. */
function changesOf(
  { filter: stored, ...view }: View,
  { filter, sort, group, layout }: IssueSearch,
): ViewPatch {
  const changed = filter && changedFilter(filter, stored as FilterTree);
  return {
    ...(changed && { filter: changed }),
    ...(sort !== undefined && sort !== view.sort && { sort }),
    ...(group !== undefined && group !== view.groupBy && { groupBy: group }),
    ...(layout !== undefined && layout !== view.layout && { layout }),
  };
}

function Actions({ view, search }: { readonly view: View; readonly search: IssueSearch }): ReactNode {
  const write = useWrite();
  const navigate = useNavigate();
  const { id, name } = view;
  const mayChange = useMay('views:write');
  const changes = changesOf(view, search);
  const isChanged = Object.keys(changes).length > 0;
  const reset = (): void =>
    void navigate({
      to: '.',
      search: ((before: object) => ({ ...before, ...unchanged })) as never,
    });
  const save = async (): Promise<void> => {
    const saved = await write((client) => client.views.update(id, changes), text.viewSaved(name));
    if (!saved) return;
    // Otherwise the screen shows the former filter until the view is read again.
    queryClient.setQueryData(['views', id], saved);
    reset();
  };
  const remove = async (): Promise<void> => {
    const isDeleted = await write(async (client) => {
      await client.views.delete(id);
      return true;
    });
    if (!isDeleted) return;
    const undo = (): void => void write((client) => client.views.restore(id), text.viewRestored(name));
    notify(text.viewDeleted(name), { label: common.undo, run: undo });
    void navigate({ to: '/issues' });
  };
  const resetButton = isChanged && <Button onClick={reset}>{text.resetView}</Button>;
  if (!mayChange) return resetButton;
  return (
    <>
      {isChanged && <Button onClick={() => void save()}>{text.updateView}</Button>}
      {resetButton}
      <EditView view={view} />
      <Button onClick={() => void remove()}>{common.delete}</Button>
    </>
  );
}
