import { useQuery } from '@tanstack/react-query';
import type { StatusUpdate } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form, SelectField, TextArea, textOf } from '../../parts/fields.tsx';
import { Time } from '../../parts/symbols.tsx';
import { text } from '../../text/planning.ts';

const shownMax = 20;

/** Status updates of a project, newest first. */
export function Updates({ projectId }: { readonly projectId: string }): ReactNode {
  const client = useClient();
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({
    queryKey: ['project-updates', projectId],
    queryFn: async () => (await client.projectUpdates.list(projectId, { limit: shownMax })).data,
  });
  return (
    <section className="stack">
      <div className="row">
        <h2 className="grow">{text.updates}</h2>
        <Button onClick={() => setOpen(true)}>{text.postUpdate}</Button>
      </div>
      {data?.length === 0 && <p className="soft">{text.noUpdates}</p>}
      <ul className="stack">
        {data?.map(({ id, health, body, author, createdAt }) => (
          <li key={id} className="card">
            <p className="row wrap">
              <span className="chip">{text.healths[health]}</span>
              <span className="soft">{author.name}</span>
              <Time at={createdAt} />
            </p>
            <p>{body}</p>
          </li>
        ))}
      </ul>
      {isOpen && <NewUpdate projectId={projectId} onClose={() => setOpen(false)} />}
    </section>
  );
}

const { none: _, ...healths } = text.healths;

function NewUpdate({
  projectId,
  onClose,
}: {
  readonly projectId: string;
  readonly onClose: () => void;
}): ReactNode {
  const [health, setHealth] = useState<StatusUpdate['health']>('on_track');
  const write = useWrite();
  const post = (fields: FormData): Promise<unknown> =>
    write((client) => client.projectUpdates.create(projectId, { health, body: textOf(fields, 'body') }));
  return (
    <Dialog title={text.postUpdate} isOpen onClose={onClose}>
      <Form submit={text.postUpdate} onSubmit={post} onDone={onClose}>
        <SelectField
          label={text.health}
          value={health}
          options={Object.entries(healths)}
          onPick={(value) => setHealth(value as StatusUpdate['health'])}
        />
        <TextArea label={text.update} name="body" required />
      </Form>
    </Dialog>
  );
}
