import { useQuery } from '@tanstack/react-query';
import type { MilestoneProgress } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { ProgressBar } from '../../parts/chart.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { dateOf, Form, TextField, textOf } from '../../parts/fields.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/planning.ts';

interface MilestonesProps {
  readonly projectId: string;
  readonly progress: readonly MilestoneProgress[];
}

export function Milestones({ projectId, progress }: MilestonesProps): ReactNode {
  const client = useClient();
  const write = useWrite();
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({
    queryKey: ['milestones', projectId],
    queryFn: () => Array.fromAsync(client.milestones.list(projectId, { limit: 100 })),
  });
  const create = (fields: FormData): Promise<unknown> =>
    client.milestones.create(projectId, {
      name: textOf(fields, 'name'),
      targetDate: dateOf(fields, 'targetDate'),
    });
  const remove = async (id: string, name: string): Promise<void> => {
    const deleted = await write(async (api) => (await api.milestones.delete(id), true));
    if (deleted) notify(text.deleted(name));
  };
  return (
    <section className="stack">
      <div className="row">
        <h2 className="grow">{text.milestones}</h2>
        <Button onClick={() => setOpen(true)}>{text.newMilestone}</Button>
      </div>
      {data?.length === 0 && <p className="soft">{text.noMilestones}</p>}
      <ul>
        {data?.map(({ id, name, targetDate }) => {
          const made = progress.find((one) => one.id === id);
          return (
            <li key={id} className="row wrap">
              <span className="grow">{name}</span>
              {made && <span className="chip">{text.milestoneStatus[made.status]}</span>}
              {made && <ProgressBar done={made.progress.completed} all={made.progress.issues} />}
              <span className="soft">{targetDate ?? text.noDate}</span>
              <Button
                look="plain"
                aria-label={`${common.delete} ${name}`}
                onClick={() => void remove(id, name)}
              >
                {common.delete}
              </Button>
            </li>
          );
        })}
      </ul>
      {isOpen && (
        <Dialog title={text.newMilestone} isOpen onClose={() => setOpen(false)}>
          <Form submit={text.newMilestone} onSubmit={create} onDone={() => setOpen(false)}>
            <TextField label={text.name} name="name" required />
            <TextField label={text.targetDate} name="targetDate" type="date" />
          </Form>
        </Dialog>
      )}
    </section>
  );
}
