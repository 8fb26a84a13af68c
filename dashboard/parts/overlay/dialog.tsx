import { Suspense, type KeyboardEvent, type ReactNode, type RefObject } from 'react';
import { OpenDialog } from './loaded.ts';

export interface DialogProps {
  readonly title: string;
  /** True if the title is only for screen readers. */
  readonly isTitleHidden?: boolean;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Element that receives the focus; by default the first one that can. */
  readonly initialFocus?: RefObject<HTMLElement | null>;
  /** Element that receives the focus afterwards; by default the one that had it when the dialog took it. */
  readonly finalFocus?: RefObject<HTMLElement | null>;
  /** Receives every key, also while no element of the content has the focus. */
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children: ReactNode;
}

/** Stands for a dialog whose code loads. Until the dialog has the focus, keys must not be shortcuts of the screen. */
export function Opening(): ReactNode {
  return <span hidden data-opening />;
}

/** Modal dialog. It traps the focus and returns it to where it was. */
export function Dialog(props: DialogProps): ReactNode {
  return (
    <Suspense fallback={<Opening />}>
      <OpenDialog {...props} />
    </Suspense>
  );
}
