// Dialogs of an automation, which the list and its page open. They load when they are opened.
import type { Automation } from '@tatami/sdk/client';
import { lazy, Suspense, type ReactNode } from 'react';
import { Confirm } from '../../parts/overlay/confirm.tsx';
import { Opening } from '../../parts/overlay/dialog.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/automations.ts';
import { useChanges } from './use-changes.ts';

const EnableDialog = lazy(() => import('./enable-dialog.tsx'));
const RunDialog = lazy(() => import('./run-dialog.tsx'));
const SettingsDialog = lazy(() => import('./settings-dialog.tsx'));

const dialogs = { enable: EnableDialog, run: RunDialog, settings: SettingsDialog };

export interface Open {
  readonly act: keyof typeof dialogs | 'delete';
  readonly automation: Automation;
}

interface DialogsProps {
  readonly open: Open | null;
  readonly onClose: () => void;
  /** Moves on from a deleted automation. */
  readonly onDeleted: () => void;
}

export function Dialogs({ open, onClose, onDeleted }: DialogsProps): ReactNode {
  const { remove } = useChanges();
  if (!open) return null;
  const { act, automation } = open;
  if (act === 'delete')
    return (
      <Confirm
        title={text.removeTitle(automation.name)}
        hint={text.removeHint}
        action={common.delete}
        onClose={onClose}
        onConfirm={() => void remove(automation).then((isDeleted) => isDeleted && onDeleted())}
      />
    );
  const Shown = dialogs[act];
  return (
    <Suspense fallback={<Opening />}>
      <Shown automation={automation} onClose={onClose} />
    </Suspense>
  );
}
