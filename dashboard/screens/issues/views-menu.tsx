import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form, SelectField, TextField, textOf } from '../../parts/fields.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { text } from '../../text/issues.ts';
import type { IssueSearch } from './search.ts';

export function ViewsMenu(): ReactNode {
  const client = useClient();
  const navigate = useNavigate();
  const { data = [] } = useQuery({
    queryKey: ['views', 'all'],
    queryFn: () => Array.fromAsync(client.views.list({ limit: 100 })),
  });
  return (
    <Menu button={text.views}>
      <MenuItem onSelect={() => void navigate({ to: '/issues' })}>{text.allIssues}</MenuItem>
      {data.map(({ id, name }) => (
        <MenuItem key={id} onSelect={() => void navigate({ to: '/views/$id', params: { id } })}>
          {name}
        </MenuItem>
      ))}
    </Menu>
  );
}

type Visibility = keyof typeof text.visibilities;

export function SaveView({ search }: { readonly search: IssueSearch }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [visibility, setVisibility] = useState<Visibility>('personal');
  const write = useWrite();
  const navigate = useNavigate();
  const save = async (fields: FormData): Promise<unknown> => {
    const name = textOf(fields, 'name');
    const view = await write(
      (client) =>
        client.views.create({
          name,
          visibility,
          filter: search.filter ?? {},
          ...(search.sort !== undefined && { sort: search.sort }),
          ...(search.group !== undefined && { groupBy: search.group }),
        }),
      text.viewSaved(name),
    );
    if (view) void navigate({ to: '/views/$id', params: { id: view.id } });
    return view;
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>{text.saveView}</Button>
      {isOpen && (
        <Dialog title={text.saveView} isOpen onClose={() => setOpen(false)}>
          <Form submit={text.saveView} onSubmit={save} onDone={() => setOpen(false)}>
            <TextField label={text.viewName} name="name" required />
            <SelectField
              label={text.visibility}
              value={visibility}
              options={Object.entries(text.visibilities)}
              onPick={(value) => setVisibility(value as Visibility)}
            />
          </Form>
        </Dialog>
      )}
    </>
  );
}
