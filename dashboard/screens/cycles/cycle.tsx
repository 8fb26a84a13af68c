import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Cycle, CycleProgress } from '@tatami/sdk/client';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { DayChart, ProgressBar } from '../../parts/chart.tsx';
import { SelectField } from '../../parts/fields.tsx';
import { IssueRows } from '../../parts/issue/issue-rows.tsx';
import { Empty, FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { text } from '../../text/planning.ts';
import { Star } from '../favorites/star.tsx';
import { idealLine, scopeChanges } from './burn-up.ts';

const CompleteDialog = lazy(() => import('./complete.tsx'));

export default function CyclePage(): ReactNode {
  const { id } = useParams({ from: '/cycles/$id' });
  const client = useClient();
  const cycle = useQuery({ queryKey: ['cycles', id], queryFn: () => client.cycles.get(id) });
  // Its key begins with `issues`, because each change of an issue may change the progress.
  const progress = useQuery({
    queryKey: ['issues', 'cycle-progress', id],
    queryFn: () => client.cycles.progress(id),
  });
  if (cycle.error) return <FailedScreen error={cycle.error} retry={() => void cycle.refetch()} />;
  if (!cycle.data) return <Loading />;
  const { name, description, team, status, startsAt, endsAt } = cycle.data;
  const today = progress.data?.days.at(-1)?.issues;
  return (
    <Screen
      title={name}
      actions={
        <>
          <Star type="cycle" id={id} />
          <Actions cycle={cycle.data} />
        </>
      }
    >
      <div className="stack">
        <p className="row wrap">
          <span className="chip">{text.cycleStatus[status]}</span>
          <span>{team}</span>
          <Time at={startsAt} /> – <Time at={endsAt} />
          {today && <ProgressBar done={today.completed} all={today.scope} />}
        </p>
        {description !== '' && <p>{description}</p>}
        {progress.data && <BurnUp progress={progress.data} endsAt={endsAt} />}
        {status === 'completed' && <Rollovers id={id} />}
        <h2>{text.issues}</h2>
        <IssueRows
          name={text.issues}
          id={['cycle', id]}
          page={async (after) =>
            client.issues.list({ cycle: id, limit: 100, ...(after !== null && { after }) })
          }
          empty={<Empty title={text.noIssues} />}
        />
      </div>
    </Screen>
  );
}

type Counts = CycleProgress['days'][number]['issues'];

function Actions({ cycle }: { readonly cycle: Cycle }): ReactNode {
  const [asks, setAsks] = useState(false);
  const write = useWrite();
  const { id, name, status } = cycle;
  if (status === 'upcoming')
    return (
      <Button onClick={() => void write((client) => client.cycles.start(id), text.cycleStarted(name))}>
        {text.startNow}
      </Button>
    );
  return (
    <>
      {status === 'active' && <Button onClick={() => setAsks(true)}>{text.complete}</Button>}
      {/* The event about the completion can arrive before the answer, on which the dialog closes. */}
      <Suspense>{asks && <CompleteDialog cycle={cycle} onClose={() => setAsks(false)} />}</Suspense>
    </>
  );
}

function BurnUp({
  progress: { days },
  endsAt,
}: {
  readonly progress: CycleProgress;
  readonly endsAt: string;
}): ReactNode {
  const [unit, setUnit] = useState<'issues' | 'points'>('issues');
  if (days.length === 0) return <p className="soft">{text.noData}</p>;
  const values = (name: keyof Counts): number[] => days.map((day) => day[unit][name]);
  const changes = scopeChanges(days.map(({ day, issues }) => ({ day, scope: issues.scope })));
  const series = [
    { name: text.scope, color: 'var(--text-soft)', values: values('scope') },
    { name: text.started, color: 'var(--warn)', dash: '6 3', values: values('started') },
    { name: text.completed, color: 'var(--good)', values: values('completed') },
    {
      name: text.ideal,
      color: 'var(--accent)',
      dash: '2 4',
      values: idealLine(
        days.map(({ day }) => day),
        values('scope').at(-1)!,
        endsAt,
      ),
    },
  ];
  return (
    <section className="stack">
      <div className="row wrap">
        <h2 className="grow">{text.burnUp}</h2>
        <SelectField
          label={text.count}
          value={unit}
          options={[
            ['issues', text.issues],
            ['points', text.points],
          ]}
          onPick={(value) => setUnit(value === 'points' ? 'points' : 'issues')}
        />
      </div>
      <DayChart title={text.burnUp} days={days.map(({ day }) => day)} series={series} />
      <h3>{text.scopeChanges}</h3>
      {changes.length === 0 ? (
        <p className="soft">{text.noScopeChanges}</p>
      ) : (
        <ul>
          {changes.map(({ day, by }) => (
            <li key={day}>{text.scopeChange(day, by)}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Rollovers({ id }: { readonly id: string }): ReactNode {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['cycles', id, 'rollovers'],
    queryFn: () => Array.fromAsync(client.cycles.rollovers(id, { limit: 100 })),
  });
  if (!data || data.length === 0) return null;
  return (
    <section className="stack">
      <h2>{text.rolledOver}</h2>
      <ul>
        {data.map(({ issue, to }) => (
          <li key={issue.id} className="row">
            <Link to="/issues/$identifier" params={{ identifier: issue.identifier ?? issue.id }}>
              {issue.identifier ?? issue.id}
            </Link>
            {to ? text.rolledTo(to.name) : text.noNext}
          </li>
        ))}
      </ul>
    </section>
  );
}
