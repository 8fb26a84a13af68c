import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Release } from '@tatami/sdk/client';
import { lazy, Suspense, useRef, useState, type ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form, TextField, textOf } from '../../parts/fields.tsx';
import { IssueRows } from '../../parts/issue/issue-rows.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/overlay/menu.tsx';
import { Empty, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { text } from '../../text/planning.ts';
import { Star } from '../favorites/star.tsx';
import { Notes } from './notes.tsx';

const AddIssues = lazy(() => import('./add-issues.tsx'));

export default function ReleasePage(): ReactNode {
  const { id } = useParams({ from: '/releases/$id' });
  const client = useClient();
  const release = useQuery({ queryKey: ['releases', id], queryFn: () => client.releases.get(id) });
  if (release.error) return <FailedScreen error={release.error} retry={() => void release.refetch()} />;
  if (!release.data) return <Loading />;
  const { name, tag, status, stage, pipeline, rollbackReason, version } = release.data;
  return (
    <Screen
      title={`${name} ${tag}`}
      actions={
        <>
          <Star type="release" id={id} />
          <Actions release={release.data} />
        </>
      }
    >
      <div className="stack">
        <p className="row wrap">
          <span className="chip">{text.releaseStatus[status]}</span>
          <span>
            {pipeline.name}: {stage}
          </span>
          {rollbackReason !== null && <span>{rollbackReason}</span>}
        </p>
        <Notes key={version} release={release.data} />
        <Issues release={release.data} />
      </div>
    </Screen>
  );
}

function Actions({ release }: { readonly release: Release }): ReactNode {
  const client = useClient();
  const write = useWrite();
  const [asks, setAsks] = useState(false);
  const { id, name, status, stage, pipeline } = release;
  const { data: stages } = useQuery({
    queryKey: ['pipelines', pipeline.id],
    queryFn: async () => (await client.pipelines.get(pipeline.id)).stages,
  });
  const isOpen = status === 'planned' || status === 'in_progress';
  return (
    <>
      {isOpen && (
        <Menu button={text.stage}>
          {stages
            ?.filter((one) => one !== stage)
            .map((one) => (
              <MenuItem
                key={one}
                onSelect={() => void write((api) => api.releases.stage(id, { stage: one }), text.saved)}
              >
                {text.moveTo(one)}
              </MenuItem>
            ))}
        </Menu>
      )}
      {isOpen && (
        <Button
          look="primary"
          onClick={() => void write((api) => api.releases.publish(id), text.published(name))}
        >
          {text.publish}
        </Button>
      )}
      {status === 'published' && <Button onClick={() => setAsks(true)}>{text.rollBack}</Button>}
      {asks && (
        <Dialog title={text.rollBack} isOpen onClose={() => setAsks(false)}>
          <Form
            submit={text.rollBack}
            onSubmit={(fields) => client.releases.rollback(id, { reason: textOf(fields, 'reason') })}
            onDone={() => setAsks(false)}
          >
            <TextField label={text.rollBackReason} name="reason" required />
          </Form>
        </Dialog>
      )}
    </>
  );
}

function Issues({ release }: { readonly release: Release }): ReactNode {
  const client = useClient();
  const write = useWrite();
  const [isOpen, setOpen] = useState(false);
  const addButton = useRef<HTMLButtonElement>(null);
  const { id } = release;
  const remove = async (issueId: string): Promise<void> => {
    const removed = await write((api) => api.releases.issues.remove(id, { issueIds: [issueId] }));
    if (!removed) return;
    // The button of the removed issue is gone.
    addButton.current?.focus();
    queryClient.setQueryData(['releases', id], removed);
  };
  return (
    <section className="stack">
      <div className="row">
        <h2 className="grow">{text.issues}</h2>
        <Button ref={addButton} onClick={() => setOpen(true)}>
          {text.addIssues}
        </Button>
      </div>
      <IssueRows
        name={text.issues}
        id={['release', id, String(release.issueIds.length)]}
        page={async (after) =>
          client.releases.issues.list(id, { limit: 100, ...(after !== null && { after }) })
        }
        empty={<Empty title={text.noIssues} />}
        actions={(issue) => (
          <Button
            look="plain"
            isIcon
            aria-label={text.removeIssue(issue.identifier ?? issue.id)}
            onClick={() => void remove(issue.id)}
          >
            <Icon name="close" />
          </Button>
        )}
      />
      <Suspense>{isOpen && <AddIssues release={release} onClose={() => setOpen(false)} />}</Suspense>
    </section>
  );
}
