// Evidence of a proposal: its author, and for a plugin run the event that caused it, its log lines and its calls.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Proposal, Run } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { messageOf } from '../../parts/states.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { text } from '../../text/developers.ts';
import { argumentsText, callsOf, subjectOf } from './run-facts.ts';
import { valueText } from './values.ts';
import styles from './proposals.module.css';

export function Evidence({ proposal }: { readonly proposal: Proposal }): ReactNode {
  const { author, through, effects, runId } = proposal;
  const operations = [...new Set(effects.map(({ operation }) => operation))];
  return (
    <aside className={`${styles.evidence} card stack`} aria-label={text.evidence}>
      <h2>{text.evidence}</h2>
      {runId === null ? (
        <p>
          {text.requestedBy(author.name)} {through && text.through(through.name)}{' '}
          <code>{operations.join(', ')}</code>
        </p>
      ) : (
        <RunEvidence id={runId} operations={operations} author={author.name} />
      )}
    </aside>
  );
}

interface RunEvidenceProps {
  readonly id: string;
  /** Operations of the proposed changes. */
  readonly operations: readonly string[];
  readonly author: string;
}

/** Cause, log lines and calls of a run. */
export function RunEvidence({ id, operations, author }: RunEvidenceProps): ReactNode {
  const client = useClient();
  const run = useQuery({ queryKey: ['runs', id], queryFn: () => client.runs.get(id) });
  if (run.error) return <p className="soft">{messageOf(run.error)}</p>;
  if (!run.data) return null;
  const { pluginVersion, handler, handlerKind, eventId, logs, leftOut, onBehalfOf, result, createdAt } =
    run.data;
  return (
    <>
      <p>
        {text.ranBy(author, pluginVersion ?? '')} <Time at={createdAt} />
      </p>
      {eventId === null ? (
        <p>
          {text.handlers[handlerKind]} <code>{handler}</code> {onBehalfOf && text.onBehalfOf(onBehalfOf.name)}
        </p>
      ) : (
        <Cause id={eventId} handler={handler} />
      )}
      <section className="stack">
        <h3>{text.logLines}</h3>
        {logs.length === 0 && <p className="soft">{leftOut.length > 0 ? text.logsHidden : text.noLogs}</p>}
        <ul>
          {logs.map(({ level, message, atMs }, at) => (
            // The order is fixed, and lines may be equal.
            <li key={at} className={styles.value}>
              <span className="soft">{level}</span> {valueText(message)}{' '}
              <Time at={new Date(atMs).toISOString()} />
            </li>
          ))}
        </ul>
        {result !== null && result !== undefined && (
          <p className={styles.value}>
            {text.result}: {valueText(result)}
          </p>
        )}
      </section>
      <Calls run={run.data} operations={operations} />
    </>
  );
}

interface CauseProps {
  readonly id: string;
  readonly handler: string;
}

/** The event that the plugin ran on. A person who may not read it sees its type only. */
function Cause({ id, handler }: CauseProps): ReactNode {
  const client = useClient();
  const event = useQuery({ queryKey: ['events', id], queryFn: () => client.events.get(id) });
  if (!event.data)
    return (
      <p>
        {text.causedBy} <code>{handler}</code>
      </p>
    );
  const { type, actor, created_at: at, data } = event.data;
  const { identifier, name } = subjectOf(data);
  return (
    <p>
      {text.causedBy} <code>{type}</code> {text.by(actor.name)} <Time at={at} />
      {identifier !== null && (
        <>
          {': '}
          <Link to="/issues/$identifier" params={{ identifier }}>
            {identifier} {valueText(name)}
          </Link>
        </>
      )}
      {identifier === null && name !== null && `: ${valueText(name)}`}
    </p>
  );
}

function Calls({
  run,
  operations,
}: {
  readonly run: Run;
  readonly operations: readonly string[];
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const calls = callsOf(run.calls, operations);
  return (
    <section className="stack">
      <h3>{operations.length === 0 ? text.allCalls : text.calls}</h3>
      {calls.length === 0 && <p className="soft">{text.noCalls}</p>}
      <ul>
        {calls.map(({ op, count, codes }) => (
          <li key={op}>
            <code>{op}</code> {count > 1 && text.times(count)} {codes.join(', ')}
          </li>
        ))}
      </ul>
      {calls.length > 0 && run.recording && !run.recording.truncated && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>{text.callArguments}</summary>
          {isOpen && <Recorded id={run.id} operations={operations} />}
        </details>
      )}
    </section>
  );
}

/** Calls with their arguments, which only the recording of the run has. */
function Recorded({
  id,
  operations,
}: {
  readonly id: string;
  readonly operations: readonly string[];
}): ReactNode {
  const client = useClient();
  const recording = useQuery({
    queryKey: ['runs', id, 'recording'],
    queryFn: () => client.runs.recording(id),
  });
  if (recording.error) return <p className="soft">{messageOf(recording.error)}</p>;
  return (
    <ul>
      {recording.data?.calls
        .filter(({ op }) => !operations.includes(op))
        .map(({ call, op, args }) => (
          <li key={call} className={styles.value}>
            <code>
              {op}({valueText(argumentsText(args))})
            </code>
          </li>
        ))}
    </ul>
  );
}
