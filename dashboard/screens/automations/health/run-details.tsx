// Dialog with the details of a run, which undoes it.
import { useQuery } from '@tanstack/react-query';
import type { Run, Undo } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { queryClient, useClient, useMay } from '../../../data/provider.tsx';
import { useWrite } from '../../../data/writes.ts';
import { Button, LinkButton } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/overlay/confirm.tsx';
import { Dialog } from '../../../parts/overlay/dialog.tsx';
import { text as common } from '../../../text/common.ts';
import { text } from '../../../text/automation-health.ts';
import { RunEvidence } from '../../proposals/evidence.tsx';
import { fieldWords } from '../../proposals/values.ts';

interface DetailsProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

export function RunDetails({ id, name, onClose }: DetailsProps): ReactNode {
  const client = useClient();
  const write = useWrite();
  const { data: run } = useQuery({ queryKey: ['runs', id], queryFn: () => client.runs.get(id) });
  const [isAsking, setAsking] = useState(false);
  const [undo, setUndo] = useState<Undo | null>(null);
  const confirm = async (): Promise<void> => {
    setUndo(await write((api) => api.runs.undo(id)));
    await queryClient.invalidateQueries({ queryKey: ['runs'] });
  };
  return (
    <Dialog title={text.runTitle} isOpen onClose={onClose}>
      <div className="stack">
        <RunEvidence id={id} operations={[]} author={name} />
        {undo && <Undone undo={undo} />}
        {!undo && run && run.undoneBy !== null && <p className="notice">{text.isUndone}</p>}
        <div className="row wrap">
          {run && <RunActions run={run} isDone={undo !== null} onUndo={() => setAsking(true)} />}
          <Button onClick={onClose}>{common.close}</Button>
        </div>
      </div>
      {isAsking && (
        <Confirm
          title={text.undoTitle}
          hint={text.undoHint}
          action={text.undo}
          onClose={() => setAsking(false)}
          onConfirm={() => void confirm()}
        />
      )}
    </Dialog>
  );
}

interface ActionsProps {
  readonly run: Run;
  /** True after an undo, also one that found nothing to revert. */
  readonly isDone: boolean;
  readonly onUndo: () => void;
}

function RunActions({ run, isDone, onUndo }: ActionsProps): ReactNode {
  const mayUndo = useMay('plugins:write');
  const { effects, undoneBy, proposalId } = run;
  const isApplied = effects.some(({ outcome }) => outcome === 'applied');
  return (
    <>
      {mayUndo && isApplied && undoneBy === null && !isDone && <Button onClick={onUndo}>{text.undo}</Button>}
      {proposalId !== null && (
        <LinkButton to="/proposals/$id" params={{ id: proposalId }}>
          {text.showProposal}
        </LinkButton>
      )}
    </>
  );
}

/** Result of an undo, with the fields and objects that others changed since. */
function Undone({ undo: { message, skipped } }: { readonly undo: Undo }): ReactNode {
  return (
    <div className={`notice stack ${skipped.length > 0 ? 'warning' : ''}`} role="status">
      <p>{message}</p>
      {skipped.length > 0 && (
        <ul aria-label={text.skipped}>
          {skipped.map(({ kind, id, issue, field, reason, changedBy }) => (
            <li key={`${kind} ${id} ${field}`}>
              {text.skippedOf(issue?.identifier ?? kind, field === null ? null : fieldWords(field))}
              {text.skipReasons[reason]} {changedBy && text.changedBy(changedBy.name)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
