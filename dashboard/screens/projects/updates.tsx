import { useQuery } from '@tanstack/react-query';
import type { StatusUpdate } from '@tatami/sdk/client';
import { useRef, useState, type ReactNode } from 'react';
import { queryClient, useClient, useSession } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/overlay/confirm.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form, SelectField, TextArea, textOf } from '../../parts/fields.tsx';
import { Markdown } from '../../parts/markdown/markdown.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/planning.ts';

const shownMax = 20;

/** Form that is open: that of a new update, or of one of the person. */
type Open = { readonly act: 'post' } | { readonly act: 'edit' | 'delete'; readonly update: StatusUpdate };

/** Status updates of a project, newest first. */
export function Updates({ projectId }: { readonly projectId: string }): ReactNode {
  const client = useClient();
  const { member } = useSession();
  const [open, setOpen] = useState<Open | null>(null);
  const post = useRef<HTMLButtonElement>(null);
  const { data } = useQuery({
    queryKey: ['project-updates', projectId],
    queryFn: async () => (await client.projectUpdates.list(projectId, { limit: shownMax })).data,
  });
  const close = (): void => setOpen(null);
  return (
    <section className="stack">
      <div className="row">
        <h2 className="grow">{text.updates}</h2>
        <Button ref={post} onClick={() => setOpen({ act: 'post' })}>
          {text.postUpdate}
        </Button>
      </div>
      {data?.length === 0 && <p className="soft">{text.noUpdates}</p>}
      <ul className="stack" aria-label={text.updates}>
        {data?.map((update) => (
          <UpdateCard
            key={update.id}
            update={update}
            isOwn={update.author.id === member.id}
            onOpen={(act) => setOpen({ act, update })}
          />
        ))}
      </ul>
      {open?.act === 'post' && <NewUpdate projectId={projectId} onClose={close} />}
      {open?.act === 'edit' && <EditUpdate update={open.update} onClose={close} />}
      {open?.act === 'delete' && (
        // The buttons of a deleted update are gone.
        <DeleteUpdate update={open.update} onClose={close} onDeleted={() => post.current?.focus()} />
      )}
    </section>
  );
}

interface CardProps {
  readonly update: StatusUpdate;
  /** True for an update of the person, which only they can change. */
  readonly isOwn: boolean;
  readonly onOpen: (act: 'edit' | 'delete') => void;
}

function UpdateCard({ update, isOwn, onOpen }: CardProps): ReactNode {
  const { health, body, author, createdAt } = update;
  return (
    <li className="card stack">
      <div className="row wrap">
        <span className="chip">{text.healths[health]}</span>
        <span className="soft">{author.name}</span>
        <span className="grow">
          <Time at={createdAt} />
        </span>
        {isOwn && (
          <>
            <Button look="plain" aria-label={text.editUpdate} onClick={() => onOpen('edit')}>
              {common.edit}
            </Button>
            <Button look="plain" aria-label={text.deleteUpdate} onClick={() => onOpen('delete')}>
              {common.delete}
            </Button>
          </>
        )}
      </div>
      <Markdown source={body} />
    </li>
  );
}

const reload = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['project-updates'] });

const { none: _, ...healths } = text.healths;

interface NewProps {
  readonly projectId: string;
  readonly onClose: () => void;
}

function NewUpdate({ projectId, onClose }: NewProps): ReactNode {
  const client = useClient();
  const [health, setHealth] = useState<StatusUpdate['health']>('on_track');
  const post = async (fields: FormData): Promise<void> => {
    await client.projectUpdates.create(projectId, { health, body: textOf(fields, 'body') });
    await reload();
  };
  return (
    <Dialog title={text.postUpdate} isOpen onClose={onClose}>
      <Form submit={text.postUpdate} onSubmit={post} onDone={onClose}>
        <SelectField
          label={text.health}
          name="health"
          value={health}
          options={Object.entries(healths)}
          onPick={(value) => setHealth(value as StatusUpdate['health'])}
        />
        <TextArea label={text.update} name="body" required />
      </Form>
    </Dialog>
  );
}

interface UpdateProps {
  readonly update: StatusUpdate;
  readonly onClose: () => void;
}

function EditUpdate({ update, onClose }: UpdateProps): ReactNode {
  const client = useClient();
  const save = async (fields: FormData): Promise<void> => {
    await client.projectUpdates.update(update.id, { body: textOf(fields, 'body') });
    await reload();
  };
  return (
    <Dialog title={text.editUpdate} isOpen onClose={onClose}>
      <Form submit={common.save} onSubmit={save} onDone={onClose}>
        <TextArea label={text.update} name="body" defaultValue={update.body} rows={8} required />
      </Form>
    </Dialog>
  );
}

interface DeleteProps extends UpdateProps {
  readonly onDeleted: () => void;
}

function DeleteUpdate({ update, onClose, onDeleted }: DeleteProps): ReactNode {
  const write = useWrite();
  const remove = async (): Promise<void> => {
    const isDeleted = await write(async (client) => {
      await client.projectUpdates.delete(update.id);
      return true;
    });
    if (!isDeleted) return;
    onDeleted();
    notify(text.updateDeleted);
    await reload();
  };
  return (
    <Confirm
      title={text.deleteUpdate}
      hint={text.deleteUpdateHint}
      action={common.delete}
      onClose={onClose}
      onConfirm={() => void remove()}
    />
  );
}
