// Dialog that enables an automation, and explains how much it may do.
import { useQuery } from '@tanstack/react-query';
import type { Automation, Backtest } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../data/provider.tsx';
import { Form } from '../../parts/fields.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { notify } from '../../parts/overlay/toast.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/automations.ts';
import { FailedRuns } from './preview/failed-runs.tsx';
import { backtestQuery } from './preview/use-preview.ts';
import { refresh } from './use-changes.ts';

interface EnableProps {
  readonly automation: Automation;
  readonly onClose: () => void;
}

const modes = ['simulate', 'propose', 'apply'] as const;

interface BacktestState {
  /** Null until the backtest has ended. */
  readonly report: Backtest['report'];
  readonly isRunning: boolean;
}

function useBacktest({ backtest: known }: Automation): BacktestState {
  const client = useClient();
  const { data } = useQuery(backtestQuery(client, known?.id));
  const status = (data ?? known)?.status;
  return { report: data?.report ?? null, isRunning: status === 'queued' || status === 'running' };
}

export default function EnableDialog({ automation, onClose }: EnableProps): ReactNode {
  const { id, name } = automation;
  const client = useClient();
  const [mode, setMode] = useState(automation.mode);
  const [isOnProbation, setProbation] = useState(automation.probation !== null);
  const { report, isRunning } = useBacktest(automation);
  const isActive = automation.state === 'active';
  const isOpen = !isActive && isRunning;
  const enable = async (): Promise<void> => {
    const changes = {
      ...(mode !== automation.mode && { mode }),
      ...(isOnProbation !== (automation.probation !== null) && { probation: isOnProbation }),
    };
    if (Object.keys(changes).length > 0) await client.automations.update(id, changes);
    if (!isActive) await client.automations.enable(id, isOpen ? { force: true } : {});
    notify(isActive ? text.saved : text.enabled(name));
    await refresh();
  };
  const submit = isOpen ? text.enableAnyway : text.enable;
  return (
    <Dialog title={isActive ? text.modeTitle(name) : text.enableTitle(name)} isOpen onClose={onClose}>
      <Form submit={isActive ? common.save : submit} onSubmit={enable} onDone={onClose}>
        <p>{text.ladder}</p>
        <fieldset className="field">
          <legend>{text.mode}</legend>
          {modes.map((one) => (
            <label key={one} className="row">
              <input type="radio" name="mode" checked={mode === one} onChange={() => setMode(one)} />
              {text.modeHints[one]}
            </label>
          ))}
        </fieldset>
        {mode === 'apply' && (
          <label className="row">
            <input
              type="checkbox"
              name="probation"
              checked={isOnProbation}
              onChange={({ target }) => setProbation(target.checked)}
            />
            {text.onProbation}
          </label>
        )}
        {report && <FailedRuns report={report} />}
        {isOpen && <p className="notice warning">{text.backtestOpen}</p>}
      </Form>
    </Dialog>
  );
}
