// Opens the dialog for a new issue from anywhere. The dialog loads when it is first opened.
import type { Issue } from '@tatami/sdk/client';
import { lazy, Suspense, useSyncExternalStore, type ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { Opening } from '../../parts/overlay/dialog.tsx';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { text } from '../../text/create.ts';
import type { IssueDraft } from './draft.ts';

const CreateDialog = lazy(() => import('./dialog.tsx'));

export interface Preset extends Partial<IssueDraft> {
  /** Parent of the new issue. It is no part of the stored draft, which may be continued elsewhere. */
  readonly parent?: Pick<Issue, 'id' | 'identifier' | 'title'>;
}

let opened: Preset | null = null;
const listeners = new Set<() => void>();

function set(preset: Preset | null): void {
  opened = preset;
  for (const listener of listeners) listener();
}

/** Opens the dialog. @param preset values that replace those of the draft */
export const openCreate = (preset: Preset = {}): void => set(preset);

export function CreateButton(): ReactNode {
  return (
    <Button look="primary" onClick={() => openCreate()}>
      {text.newIssue}
    </Button>
  );
}

/** Shows the dialog while it is open. There is one for all screens. */
export function CreateHost(): ReactNode {
  const preset = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => opened,
  );
  useShortcuts([{ keys: 'c', label: text.newIssue, run: () => openCreate() }]);
  if (!preset) return null;
  return (
    <Suspense fallback={<Opening />}>
      <CreateDialog preset={preset} onClose={() => set(null)} />
    </Suspense>
  );
}
