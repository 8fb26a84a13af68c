import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Project, ProjectPatch } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useMembers } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { DayChart, ProgressBar } from '../../parts/chart.tsx';
import { SelectField, TextField } from '../../parts/fields.tsx';
import { IssueRows } from '../../parts/issue/issue-rows.tsx';
import { Empty, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { text } from '../../text/planning.ts';
import { Star } from '../favorites/star.tsx';
import { Milestones } from './milestones.tsx';
import { Updates } from './updates.tsx';

/** Range of the chart. */
const chartMs = 30 * 86_400_000;

export default function ProjectPage(): ReactNode {
  const { id } = useParams({ from: '/projects/$id' });
  const client = useClient();
  const since = new Date(Date.now() - chartMs).toISOString().slice(0, 10);
  const project = useQuery({ queryKey: ['projects', id], queryFn: () => client.projects.get(id) });
  // Its key begins with `issues`, because each change of an issue may change the progress.
  const progress = useQuery({
    queryKey: ['issues', 'project-progress', id],
    queryFn: () => client.projects.progress(id, { since }),
  });
  if (project.error) return <FailedScreen error={project.error} retry={() => void project.refetch()} />;
  if (!project.data) return <Loading />;
  const { name, description } = project.data;
  const days = progress.data?.days ?? [];
  return (
    <Screen title={name} actions={<Star type="project" id={id} />}>
      <div className="stack">
        {progress.data && (
          <ProgressBar done={progress.data.progress.completed} all={progress.data.progress.issues} />
        )}
        <Facts project={project.data} />
        {description !== '' && <p>{description}</p>}
        <Updates projectId={id} />
        <Milestones projectId={id} progress={progress.data?.milestones ?? []} />
        {days.length > 1 && (
          <DayChart
            title={text.burnUp}
            days={days.map(({ day }) => day)}
            series={[
              { name: text.scope, color: 'var(--text-soft)', values: days.map(({ issues }) => issues.scope) },
              {
                name: text.completed,
                color: 'var(--good)',
                values: days.map(({ issues }) => issues.completed),
              },
            ]}
          />
        )}
        <h2>{text.issues}</h2>
        <IssueRows
          name={text.issues}
          id={['project', id]}
          page={async (after) =>
            client.issues.list({ project: id, limit: 100, ...(after !== null && { after }) })
          }
          empty={<Empty title={text.noIssues} />}
        />
      </div>
    </Screen>
  );
}

const statuses = Object.entries(text.projectStatus);

function Facts({ project }: { readonly project: Project }): ReactNode {
  const members = useMembers();
  const write = useWrite();
  const change = (patch: ProjectPatch): void =>
    void write((client) => client.projects.update(project.id, patch), text.saved);
  return (
    <div className="row wrap">
      <SelectField
        label={text.status}
        value={project.status}
        options={statuses}
        onPick={(status) => change({ status: status as Project['status'] })}
      />
      <SelectField
        label={text.lead}
        value={project.lead?.id ?? ''}
        options={[['', text.noLead], ...members.map(({ id, name }) => [id, name] as const)]}
        onPick={(lead) => change({ leadId: lead === '' ? null : lead })}
      />
      <TextField
        label={text.targetDate}
        type="date"
        value={project.targetDate ?? ''}
        onChange={({ target }) => change({ targetDate: target.value === '' ? null : target.value })}
      />
      <span className="chip">
        {text.health}: {text.healths[project.health ?? 'none']}
      </span>
    </div>
  );
}
