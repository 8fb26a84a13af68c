// Health of an automation: activity, overruled changes, failures, loops and conflicts.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Automation, AutomationHealth } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient, useMay } from '../../../data/provider.tsx';
import { Button, LinkButton } from '../../../parts/button.tsx';
import { Time } from '../../../parts/issue/symbols.tsx';
import { Failed, Loading } from '../../../parts/states.tsx';
import { text } from '../../../text/automation-health.ts';
import { fieldWords } from '../../proposals/values.ts';
import styles from '../automations.module.css';
import { reasonOf } from '../rule/reason.ts';
import { useValueText } from '../preview/report.tsx';
import { Revisions } from './revisions.tsx';
import { RunDetails } from './run-details.tsx';
import { Runs } from './runs.tsx';

export default function Health({ automation }: { readonly automation: Automation }): ReactNode {
  const client = useClient();
  const [run, setRun] = useState<string | null>(null);
  const mayRuns = useMay('plugins:read');
  const { id } = automation;
  const health = useQuery({
    queryKey: ['automations', id, 'health'],
    queryFn: () => client.automations.health(id),
  });
  if (health.error) return <Failed error={health.error} retry={() => void health.refetch()} />;
  if (!health.data) return <Loading />;
  const { data } = health;
  const onShow = mayRuns ? setRun : null;
  return (
    <div className="stack">
      <Facts health={data} id={id} />
      <Overruled overruled={data.overruled} />
      <Failures failures={data.failures} onShow={onShow} />
      <Loops loops={data.loops} onShow={onShow} />
      <Conflicts health={data} />
      {mayRuns ? <Runs id={id} onShow={setRun} /> : <p className="soft">{text.needsPlugins}</p>}
      <Revisions automation={automation} />
      {run !== null && <RunDetails id={run} name={automation.name} onClose={() => setRun(null)} />}
    </div>
  );
}

const timeOrNever = (at: string | null): ReactNode => (at === null ? text.never : <Time at={at} />);

function Facts({ health, id }: { readonly health: AutomationHealth; readonly id: string }): ReactNode {
  const { lastActedAt, lastRunAt, days, runs, usage, waitsFor } = health;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [text.lastActed, timeOrNever(lastActedAt)],
    [text.lastRun, timeOrNever(lastRunAt)],
    [text.runsIn(days), text.runs(runs.total, runs.acted, runs.proposed, runs.failed)],
    [text.today, text.usage(usage.runs, usage.cpuMs)],
  ];
  return (
    <section className="card stack">
      <h2>{text.facts}</h2>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="soft">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {waitsFor && (
        <p className="notice warning">
          {text.waitsFor(text.quantities[waitsFor.quantity])} <Time at={waitsFor.until} />
        </p>
      )}
      <div>
        <LinkButton to="/proposals" search={{ install: id }}>
          {text.proposals}
        </LinkButton>
      </div>
    </section>
  );
}

interface SectionProps {
  readonly title: string;
  /** Shown if the list is empty. */
  readonly none: string;
  readonly hint?: ReactNode;
  readonly items: readonly ReactNode[];
}

function Section({ title, none, hint, items }: SectionProps): ReactNode {
  return (
    <section className="card stack">
      <h2>{title}</h2>
      {hint}
      {items.length === 0 ? (
        <p className="soft">{none}</p>
      ) : (
        <ul className="stack" aria-label={title}>
          {items}
        </ul>
      )}
    </section>
  );
}

interface IssueName {
  readonly id: string;
  readonly identifier: string | null;
}

function IssueLink({ issue: { id, identifier } }: { readonly issue: IssueName }): ReactNode {
  return (
    <Link to="/issues/$identifier" params={{ identifier: identifier ?? id }}>
      {identifier ?? id}
    </Link>
  );
}

function Overruled({
  overruled: { changes, overruled, share, examples },
}: Pick<AutomationHealth, 'overruled'>): ReactNode {
  const valueOf = useValueText();
  return (
    <Section
      title={text.overruled}
      none={text.notOverruled}
      hint={overruled > 0 && <p>{text.overruledShare(overruled, changes, share)}</p>}
      items={examples.map(({ issue, field, set, now, by, at }) => (
        <li key={`${issue.id} ${field} ${at}`}>
          <IssueLink issue={issue} />{' '}
          {text.overruledBy(fieldWords(field), valueOf(field, set), valueOf(field, now), by)}{' '}
          <span className="soft">
            <Time at={at} />
          </span>
        </li>
      ))}
    />
  );
}

/** Shows a run; null for a person who may not see runs. */
type OnShow = ((runId: string) => void) | null;

function ShowRun({
  id,
  what,
  onShow,
}: {
  readonly id: string;
  readonly what: string;
  readonly onShow: OnShow;
}): ReactNode {
  return (
    onShow && (
      <Button look="plain" aria-label={text.showRunOf(what)} onClick={() => onShow(id)}>
        {text.showRun}
      </Button>
    )
  );
}

function Failures({
  failures,
  onShow,
}: Pick<AutomationHealth, 'failures'> & { readonly onShow: OnShow }): ReactNode {
  return (
    <Section
      title={text.failures}
      none={text.noFailures}
      items={failures.map(({ code, message, count, lastAt, runId }) => (
        <li key={`${code} ${message}`} className="row wrap">
          <span className="grow">{text.failed(reasonOf(message), count)}</span>
          <span className="soft">
            <Time at={lastAt} />
          </span>
          <ShowRun id={runId} what={reasonOf(message)} onShow={onShow} />
        </li>
      ))}
    />
  );
}

function Loops({ loops, onShow }: Pick<AutomationHealth, 'loops'> & { readonly onShow: OnShow }): ReactNode {
  return (
    <Section
      title={text.loops}
      none={text.noLoops}
      items={loops.map(({ message, at, runId }) => (
        <li key={`${runId} ${at}`} className="row wrap">
          <span className="grow">{message}</span>
          <span className="soft">
            <Time at={at} />
          </span>
          <ShowRun id={runId} what={message} onShow={onShow} />
        </li>
      ))}
    />
  );
}

function Conflicts({ health: { conflicts, basis } }: { readonly health: AutomationHealth }): ReactNode {
  const valueOf = useValueText();
  return (
    <Section
      title={text.conflicts}
      none={text.noConflicts}
      hint={basis === 'backtest' && <p className="soft">{text.ofBacktest}</p>}
      items={conflicts.map(({ with: { kind, id, name }, field, count, example: { issue, ours, theirs } }) => (
        <li key={`${id} ${field}`}>
          {kind === 'automation' ? (
            <Link to="/automations/$id" params={{ id }}>
              {name}
            </Link>
          ) : (
            name
          )}{' '}
          {text.conflictWith[kind](fieldWords(field), count)}
          <div className="soft">
            <IssueLink issue={issue} />:{' '}
            {text.example(valueOf(field, ours.value), valueOf(field, theirs.value), name)}{' '}
            <Time at={theirs.at} />
          </div>
        </li>
      ))}
    />
  );
}
