import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Pipeline, Release } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { dateOf, Form, SelectField, TextArea, TextField, textOf } from '../../parts/fields.tsx';
import { Empty, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { text } from '../../text/planning.ts';

export default function Releases(): ReactNode {
  const client = useClient();
  const [form, setForm] = useState<'release' | 'pipeline' | null>(null);
  const releases = useQuery({
    queryKey: ['releases', 'all'],
    queryFn: () => Array.fromAsync(client.releases.list({ limit: 100 })),
  });
  const pipelines = useQuery({
    queryKey: ['pipelines', 'all'],
    queryFn: () => Array.fromAsync(client.pipelines.list({ limit: 100 })),
  });
  if (releases.error) return <FailedScreen error={releases.error} retry={() => void releases.refetch()} />;
  const hasPipeline = (pipelines.data?.length ?? 0) > 0;
  const actions = (
    <>
      <Button onClick={() => setForm('pipeline')}>{text.newPipeline}</Button>
      {hasPipeline && (
        <Button look="primary" onClick={() => setForm('release')}>
          {text.newRelease}
        </Button>
      )}
    </>
  );
  return (
    <Screen title={text.releases} actions={actions}>
      <ReleaseTable releases={releases.data} hint={hasPipeline ? text.noReleasesHint : text.noPipeline} />
      {form === 'release' && <NewRelease pipelines={pipelines.data ?? []} onClose={() => setForm(null)} />}
      {form === 'pipeline' && <NewPipeline onClose={() => setForm(null)} />}
    </Screen>
  );
}

interface ReleaseTableProps {
  /** Undefined while they load. */
  readonly releases: readonly Release[] | undefined;
  /** Shown if there are none. */
  readonly hint: string;
}

function ReleaseTable({ releases, hint }: ReleaseTableProps): ReactNode {
  if (!releases) return <Loading />;
  if (releases.length === 0) return <Empty title={text.noReleases} hint={hint} />;
  return (
    <table aria-label={text.releases}>
      <thead>
        <tr>
          <th scope="col">{text.name}</th>
          <th scope="col">{text.tag}</th>
          <th scope="col">{text.status}</th>
          <th scope="col">{text.stage}</th>
          <th scope="col">{text.targetDate}</th>
        </tr>
      </thead>
      <tbody>
        {releases.map(({ id, name, tag, status, stage, pipeline, targetDate }) => (
          <tr key={id}>
            <th scope="row">
              <Link to="/releases/$id" params={{ id }}>
                {name}
              </Link>
            </th>
            <td>{tag}</td>
            <td>{text.releaseStatus[status]}</td>
            <td>
              {pipeline.name}: {stage}
            </td>
            <td>{targetDate ?? text.noDate}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface NewReleaseProps {
  readonly pipelines: readonly Pipeline[];
  readonly onClose: () => void;
}

function NewRelease({ pipelines, onClose }: NewReleaseProps): ReactNode {
  const client = useClient();
  const [pipelineId, setPipeline] = useState(pipelines[0]?.id ?? '');
  const create = (fields: FormData): Promise<unknown> =>
    client.releases.create({
      pipelineId,
      name: textOf(fields, 'name'),
      tag: textOf(fields, 'tag'),
      targetDate: dateOf(fields, 'targetDate'),
    });
  return (
    <Dialog title={text.newRelease} isOpen onClose={onClose}>
      <Form submit={text.newRelease} onSubmit={create} onDone={onClose}>
        <SelectField
          label={text.pipeline}
          name="pipelineId"
          value={pipelineId}
          options={pipelines.map(({ id, name }) => [id, name])}
          onPick={setPipeline}
        />
        <TextField label={text.name} name="name" required />
        <TextField label={text.tag} name="tag" required />
        <TextField label={text.targetDate} name="targetDate" type="date" />
      </Form>
    </Dialog>
  );
}

function NewPipeline({ onClose }: { readonly onClose: () => void }): ReactNode {
  const client = useClient();
  const create = (fields: FormData): Promise<unknown> => {
    const stages = textOf(fields, 'stages')
      .split('\n')
      .map((stage) => stage.trim())
      .filter((stage) => stage !== '');
    return client.pipelines.create({
      name: textOf(fields, 'name'),
      ...(stages.length > 0 && { stages }),
    });
  };
  return (
    <Dialog title={text.newPipeline} isOpen onClose={onClose}>
      <Form submit={text.newPipeline} onSubmit={create} onDone={onClose}>
        <TextField label={text.name} name="name" required />
        <TextArea label={text.stages} name="stages" />
      </Form>
    </Dialog>
  );
}
