// Dialog that shows what an automation would do to an issue, and runs it.
import { useQuery } from '@tanstack/react-query';
import type { Automation, AutomationSimulation } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { IssueDialog, type FoundIssue } from '../../parts/issue/issue-dialog.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { messageOf } from '../../parts/states.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/automations.ts';
import { fieldWords } from '../proposals/values.ts';
import { reasonOf } from './rule/reason.ts';
import { useValueText } from './preview/report.tsx';

interface RunProps {
  readonly automation: Automation;
  readonly onClose: () => void;
}

export default function RunDialog({ automation, onClose }: RunProps): ReactNode {
  const [issue, setIssue] = useState<FoundIssue | null>(null);
  if (automation.issues === null && !issue)
    return <IssueDialog label={text.chooseIssue} onPick={setIssue} onClose={onClose} />;
  return <Effects automation={automation} issue={issue} onClose={onClose} />;
}

function Effects({
  automation,
  issue,
  onClose,
}: RunProps & { readonly issue: FoundIssue | null }): ReactNode {
  const { id, name } = automation;
  const client = useClient();
  const write = useWrite();
  const isActive = automation.state === 'active';
  const subject = issue ? { issue: issue.id } : {};
  const simulated = useQuery({
    queryKey: ['simulations', id, issue?.id ?? null],
    // The result depends on the time at which the person asks.
    gcTime: 0,
    staleTime: 'static',
    queryFn: () => client.automations.simulate(id, subject),
  });
  const run = async (): Promise<void> => {
    onClose();
    const ran = await write((api) => api.automations.run(id, subject));
    if (ran) notify(text.ran(name, text.runStatus[ran.status]));
  };
  return (
    <Dialog title={text.runTitle(name)} isOpen onClose={onClose}>
      <div className="stack">
        <p>{issue ? `${issue.identifier} ${issue.title}` : text.onSelected}</p>
        <p className="soft">{text.runHint}</p>
        {simulated.isPending && <p role="status">{text.simulating}</p>}
        {simulated.error && <p className="notice problem">{messageOf(simulated.error)}</p>}
        {!isActive && <p className="notice">{text.runPaused}</p>}
        {simulated.data && <Simulation simulation={simulated.data} />}
        <div className="row">
          <Button look="primary" disabled={!simulated.data || !isActive} onClick={() => void run()}>
            {text.run}
          </Button>
          <Button onClick={onClose}>{common.cancel}</Button>
        </div>
      </div>
    </Dialog>
  );
}

function Simulation({ simulation }: { readonly simulation: AutomationSimulation }): ReactNode {
  const { effects, logs, error } = simulation;
  const valueOf = useValueText();
  return (
    <div className="stack" role="status">
      {error && <p className="notice problem">{reasonOf(error.message)}</p>}
      {!error && <p>{effects.length === 0 ? text.noEffects : text.effects}</p>}
      <ul className="stack">
        {effects.map(({ id, kind, action, name, values }) => (
          <li key={`${action} ${kind} ${id}`}>
            {text.effectActions[action]} {name ?? text.kinds[kind as keyof typeof text.kinds] ?? kind}
            <ul className="soft">
              {Object.entries(values ?? {}).map(([field, { before, after }]) => (
                <li key={field}>
                  {text.fieldSet(fieldWords(field), valueOf(field, before), valueOf(field, after))}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {effects.length === 0 &&
        logs.map(({ message, atMs }) => (
          <p key={`${atMs} ${message}`} className="soft">
            {message}
          </p>
        ))}
    </div>
  );
}
