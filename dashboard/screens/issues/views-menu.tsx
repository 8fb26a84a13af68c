import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { View } from '@tatami/sdk/client';
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

interface Details {
  readonly name: string;
  readonly visibility: Visibility;
}

interface ViewDialogProps {
  readonly title: string;
  readonly details: Details;
  readonly onSave: (details: Details) => Promise<unknown>;
}

/** Button that opens the name and the visibility of a view. */
function ViewDialog({ title, details, onSave }: ViewDialogProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [visibility, setVisibility] = useState(details.visibility);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{title}</Button>
      {isOpen && (
        <Dialog title={title} isOpen onClose={() => setOpen(false)}>
          <Form
            submit={title}
            onSubmit={(fields) => onSave({ name: textOf(fields, 'name'), visibility })}
            onDone={() => setOpen(false)}
          >
            <TextField
              label={text.viewName}
              name="name"
              defaultValue={details.name}
              maxLength={120}
              required
            />
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

export function SaveView({ search }: { readonly search: IssueSearch }): ReactNode {
  const write = useWrite();
  const navigate = useNavigate();
  const save = async (details: Details): Promise<unknown> => {
    const view = await write(
      (client) =>
        client.views.create({
          ...details,
          filter: search.filter ?? {},
          ...(search.sort !== undefined && { sort: search.sort }),
          ...(search.group !== undefined && { groupBy: search.group }),
        }),
      text.viewSaved(details.name),
    );
    if (view) void navigate({ to: '/views/$id', params: { id: view.id } });
    return view;
  };
  return <ViewDialog title={text.saveView} details={{ name: '', visibility: 'personal' }} onSave={save} />;
}

export function EditView({ view: { id, name, visibility } }: { readonly view: View }): ReactNode {
  const write = useWrite();
  const save = (details: Details): Promise<unknown> =>
    write((client) => client.views.update(id, details), text.viewSaved(details.name));
  return <ViewDialog title={text.editView} details={{ name, visibility }} onSave={save} />;
}
