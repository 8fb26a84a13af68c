// Recent runs of an automation.
import { Link } from '@tanstack/react-router';
import type { Issue, Run } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { usePages } from '../../../data/pages.ts';
import { useClient } from '../../../data/provider.tsx';
import { Button } from '../../../parts/button.tsx';
import { Time } from '../../../parts/issue/symbols.tsx';
import { Paged } from '../../../parts/paged.tsx';
import { text as common } from '../../../text/automations.ts';
import { text } from '../../../text/automation-health.ts';
import { fieldWords } from '../../proposals/values.ts';
import { eventWords } from '../rule/events.ts';
import { reasonOf } from '../rule/reason.ts';
import { useIssues } from '../use-issues.ts';

interface RunsProps {
  readonly id: string;
  readonly onShow: (runId: string) => void;
}

const pageSize = 20;

export function Runs({ id, onShow }: RunsProps): ReactNode {
  const client = useClient();
  const runs = usePages(['runs', 'of', id], async (after) =>
    client.plugins.runs(id, { limit: pageSize, ...after }),
  );
  return (
    <section className="card stack">
      <h2>{text.recentRuns}</h2>
      <Paged pages={runs} empty={<p className="soft">{text.noRunsHint}</p>}>
        {(items) => <RunTable runs={items} onShow={onShow} />}
      </Paged>
    </section>
  );
}

const triggerOf = ({ handler, handlerKind }: Run): string =>
  handlerKind === 'event' ? eventWords(handler) : text.handlers[handlerKind];

type Effect = Run['effects'][number];

interface EffectProps {
  readonly effect: Effect;
  readonly issues: ReadonlyMap<string, Issue>;
}

/** Effect in words, such as "Change ENG-1 (priority)". */
function EffectLine({ effect: { id, action, kind, name, fields }, issues }: EffectProps): ReactNode {
  const identifier = issues.get(id)?.identifier;
  const changed = fields.length > 0 ? ` (${fields.map(fieldWords).join(', ')})` : '';
  return (
    <div>
      {common.effectActions[action]}{' '}
      {identifier ? (
        <Link to="/issues/$identifier" params={{ identifier }}>
          {identifier}
        </Link>
      ) : (
        (name ?? common.kinds[kind as keyof typeof common.kinds] ?? kind)
      )}
      {changed}
    </div>
  );
}

function RunTable({
  runs,
  onShow,
}: {
  readonly runs: readonly Run[];
  readonly onShow: RunsProps['onShow'];
}): ReactNode {
  const effects = runs.flatMap((run) => run.effects);
  const issues = useIssues(effects.filter(({ kind }) => kind === 'issue').map(({ id }) => id));
  return (
    <div className="wide-table">
      <table aria-label={text.recentRuns}>
        <thead>
          <tr>
            <th scope="col">{text.time}</th>
            <th scope="col">{text.trigger}</th>
            <th scope="col">{text.status}</th>
            <th scope="col">{text.effects}</th>
            <th scope="col">{text.details}</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <th scope="row" className="one-line">
                <Time at={run.createdAt} />
              </th>
              <td>{triggerOf(run)}</td>
              <td>{run.undoneBy === null ? common.runStatus[run.status] : text.undone}</td>
              <td>
                {run.effects.map((effect) => (
                  <EffectLine key={`${effect.action} ${effect.id}`} effect={effect} issues={issues} />
                ))}
                {run.error && reasonOf(run.error.message)}
              </td>
              <td>
                <Button look="plain" onClick={() => onShow(run.id)}>
                  {text.details}
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
