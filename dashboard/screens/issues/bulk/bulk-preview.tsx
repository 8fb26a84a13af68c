// Previews a change of several issues, makes it when the person agrees, and offers to undo it.
import { lazy, Suspense, useRef, useState, type ReactNode } from 'react';
import { useClient } from '../../../data/provider.tsx';
import { notify, notifyProblem } from '../../../parts/overlay/toast.tsx';
import { text as common } from '../../../text/common.ts';
import { text } from '../../../text/issues.ts';
import type { BulkStep } from './bulk-dialog.tsx';
import type { BulkChange, Control, Outcome } from './bulk.ts';
import type { ListedIssue } from '../list/list-data.ts';

const BulkDialog = lazy(() => import('./bulk-dialog.tsx'));

interface Bulk {
  ask(issues: readonly ListedIssue[], change: BulkChange): void;
  /** Dialog of the present step, while there is one. */
  readonly dialog: ReactNode;
}

/** After more changes, the list is loaded again from its start. */
const retainedMax = 100;

type Run = (title: string, work: (control: Control) => Promise<Outcome>) => Promise<Outcome | null>;

interface Steps {
  readonly step: BulkStep | null;
  setStep(step: BulkStep | null): void;
  /** Runs a step with progress. Reports an error that concerns all issues. @returns null after such an error */
  readonly run: Run;
  /** Closes the dialog, and cancels what runs. */
  close(): void;
}

function useSteps(): Steps {
  const [step, setStep] = useState<BulkStep | null>(null);
  const running = useRef<AbortController | null>(null);
  const run: Run = async (title, work) => {
    const controller = new AbortController();
    running.current = controller;
    const onProgress = (done: number, all: number): void => {
      if (done < all && !controller.signal.aborted) setStep({ kind: 'progress', title, done, all });
    };
    try {
      const outcome = await work({ signal: controller.signal, onProgress });
      setStep(null);
      if (outcome.changes.length > 0 || outcome.error === null) return outcome;
      notifyProblem(outcome.error);
    } catch (error) {
      setStep(null);
      notifyProblem(error);
    }
    return null;
  };
  const close = (): void => {
    running.current?.abort();
    setStep(null);
  };
  return { step, setStep, run, close };
}

/** @param onGone called when the issues may no longer be in the list */
export function useBulk(onGone: () => void): Bulk {
  const client = useClient();
  const { step, setStep, run, close } = useSteps();
  const report = ({ failures }: Outcome): void => {
    if (failures.length > 0) setStep({ kind: 'failed', failures });
  };
  const apply = async (issues: readonly ListedIssue[], change: BulkChange): Promise<void> => {
    const { changeBulk, undoBulk } = await import('./bulk.ts');
    const outcome = await run(text.changing, (control) => changeBulk(client, issues, change, control));
    if (!outcome) return;
    const undo = async (): Promise<void> => {
      const undone = await run(text.undoing, (control) =>
        undoBulk(client, issues, change, outcome.changes, control),
      );
      if (!undone) return;
      notify(text.undone(undone.changes.length));
      report(undone);
    };
    notify(messageOf(change, outcome), { label: common.undo, run: () => void undo() });
    if (change.kind === 'delete' || issues.length > retainedMax) onGone();
    report(outcome);
  };
  const ask = async (issues: readonly ListedIssue[], change: BulkChange): Promise<void> => {
    const { changeBulk } = await import('./bulk.ts');
    const outcome = await run(text.checking, (control) =>
      changeBulk(client, issues, change, { ...control, isSimulation: true }),
    );
    if (!outcome || outcome.left > 0) return;
    const changing = new Set(outcome.changes.map(({ id }) => id));
    const onApply = (): void => {
      setStep(null);
      void apply(
        issues.filter(({ id }) => changing.has(id)),
        change,
      );
    };
    setStep({ kind: 'preview', change, issues, outcome, onApply });
  };
  const dialog = step && (
    <Suspense>
      <BulkDialog step={step} onClose={close} />
    </Suspense>
  );
  return { ask: (issues, change) => void ask(issues, change), dialog };
}

function messageOf({ kind }: BulkChange, { changes, left }: Outcome): string {
  const done = kind === 'delete' ? text.deleted(changes.length) : text.changed(changes.length);
  return left > 0 ? `${done} ${text.notTried(left)}` : done;
}
