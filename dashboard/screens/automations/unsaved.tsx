import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { text } from '../../text/automations.ts';

/** Moves the focus from a button of a notice, which disappears, to the control of the form after the notice. */
export function focusAfter(button: HTMLButtonElement): void {
  const notice = button.closest('[role]');
  const controls = [...(button.form?.elements ?? [])] as HTMLElement[];
  const after = controls.slice(controls.indexOf(button) + 1);
  after.find((one) => one.tagName !== 'FIELDSET' && notice?.contains(one) === false)?.focus();
}

interface UnsavedProps {
  readonly words: string;
  readonly onDiscard: () => void;
}

/** Line about changes that are not saved. */
export function Unsaved({ words, onDiscard }: UnsavedProps): ReactNode {
  return (
    <p className="row wrap" role="status">
      <span className="grow">{words}</span>
      <Button
        onClick={({ currentTarget }) => {
          focusAfter(currentTarget);
          onDiscard();
        }}
      >
        {text.discard}
      </Button>
    </p>
  );
}
