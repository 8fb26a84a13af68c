// Recent runs of an automation, and the details of one.
import type { Run } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { usePages } from '../../../data/pages.ts';
import { useClient } from '../../../data/provider.tsx';
import { Button } from '../../../parts/button.tsx';
import { Time } from '../../../parts/issue/symbols.tsx';
import { Dialog } from '../../../parts/overlay/dialog.tsx';
import { Paged } from '../../../parts/paged.tsx';
import { text as common } from '../../../text/automations.ts';
import { text } from '../../../text/automation-health.ts';
import { RunEvidence } from '../../proposals/evidence.tsx';
import { fieldWords } from '../../proposals/values.ts';
import { eventWords } from '../rule/events.ts';
import { reasonOf } from '../rule/reason.ts';

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

/** Returns the effects in words, such as "Change an issue (priority)". */
function effectsOf({ effects }: Run): readonly string[] {
  return effects.map(({ action, kind, name, fields }) => {
    const object = name ?? common.kinds[kind as keyof typeof common.kinds] ?? kind;
    const changed = fields.length > 0 ? ` (${fields.map(fieldWords).join(', ')})` : '';
    return `${common.effectActions[action]} ${object}${changed}`;
  });
}

function RunTable({
  runs,
  onShow,
}: {
  readonly runs: readonly Run[];
  readonly onShow: RunsProps['onShow'];
}): ReactNode {
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
              <td>{common.runStatus[run.status]}</td>
              <td>
                {effectsOf(run).map((words, at) => (
                  <div key={at}>{words}</div>
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

interface DetailsProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

export function RunDetails({ id, name, onClose }: DetailsProps): ReactNode {
  return (
    <Dialog title={text.runTitle} isOpen onClose={onClose}>
      <div className="stack">
        <RunEvidence id={id} operations={[]} author={name} />
      </div>
    </Dialog>
  );
}
