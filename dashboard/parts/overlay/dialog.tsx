import { Dialog as Base } from '@base-ui/react/dialog';
import type { KeyboardEvent, ReactNode, RefObject } from 'react';
import styles from '../parts.module.css';

interface DialogProps {
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

/** Modal dialog. It traps the focus and returns it to where it was. */
export function Dialog({
  title,
  isTitleHidden = false,
  isOpen,
  onClose,
  initialFocus,
  finalFocus,
  onKeyDown,
  children,
}: DialogProps): ReactNode {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => open || onClose()}>
      <Base.Portal>
        {/* Also above an outer dialog. */}
        <Base.Backdrop className={styles.backdrop} forceRender />
        <Base.Popup
          className={`${styles.dialog} stack`}
          onKeyDown={onKeyDown}
          {...(initialFocus && { initialFocus })}
          {...(finalFocus && { finalFocus })}
        >
          <Base.Title className={isTitleHidden ? 'only-read' : ''}>{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
