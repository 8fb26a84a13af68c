import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { View } from '@tatami/sdk/client';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useClient, useMay } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Menu, MenuItem } from '../../parts/overlay/menu.tsx';
import { text } from '../../text/issues.ts';
import type { IssueSearch } from './search.ts';
import type { ViewDetails } from './view-dialog.tsx';

export function ViewsMenu(): ReactNode {
  return (
    <Menu button={text.views}>
      <ViewItems />
    </Menu>
  );
}

/** Loads the views when the menu opens. */
function ViewItems(): ReactNode {
  const client = useClient();
  const navigate = useNavigate();
  const { data = [] } = useQuery({
    queryKey: ['views', 'all'],
    queryFn: () => Array.fromAsync(client.views.list({ limit: 100 })),
  });
  return (
    <>
      <MenuItem onSelect={() => void navigate({ to: '/issues' })}>{text.allIssues}</MenuItem>
      {data.map(({ id, name }) => (
        <MenuItem key={id} onSelect={() => void navigate({ to: '/views/$id', params: { id } })}>
          {name}
        </MenuItem>
      ))}
    </>
  );
}

const ViewDialog = lazy(() => import('./view-dialog.tsx'));

interface ViewButtonProps {
  readonly title: string;
  readonly details: ViewDetails;
  readonly onSave: (details: ViewDetails) => Promise<unknown>;
}

/** Button that opens the name and the visibility of a view. */
function ViewButton({ title, details, onSave }: ViewButtonProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useMay('views:write');
  if (!mayChange) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{title}</Button>
      <Suspense>
        {isOpen && (
          <ViewDialog title={title} details={details} onSave={onSave} onClose={() => setOpen(false)} />
        )}
      </Suspense>
    </>
  );
}

export function SaveView({ search }: { readonly search: IssueSearch }): ReactNode {
  const write = useWrite();
  const navigate = useNavigate();
  const save = async (details: ViewDetails): Promise<unknown> => {
    const view = await write(
      (client) =>
        client.views.create({
          ...details,
          filter: search.filter ?? {},
          ...(search.sort !== undefined && { sort: search.sort }),
          ...(search.group !== undefined && { groupBy: search.group }),
          ...(search.layout !== undefined && { layout: search.layout }),
        }),
      text.viewSaved(details.name),
    );
    if (view) void navigate({ to: '/views/$id', params: { id: view.id } });
    return view;
  };
  return <ViewButton title={text.saveView} details={{ name: '', visibility: 'personal' }} onSave={save} />;
}

export function EditView({ view: { id, name, visibility } }: { readonly view: View }): ReactNode {
  const write = useWrite();
  const save = (details: ViewDetails): Promise<unknown> =>
    write((client) => client.views.update(id, details), text.viewSaved(details.name));
  return <ViewButton title={text.editView} details={{ name, visibility }} onSave={save} />;
}
