import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { text } from '../../text/automations.ts';

interface UnsavedProps {
  readonly words: string;
  readonly onDiscard: () => void;
}

/** Line about changes that are not saved. */
export function Unsaved({ words, onDiscard }: UnsavedProps): ReactNode {
  return (
    <p className="row wrap" role="status">
      <span className="grow">{words}</span>
      <Button onClick={onDiscard}>{text.discard}</Button>
    </p>
  );
}
