import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import styles from '../parts.module.css';
import type { DialogProps } from './dialog.tsx';

export default function OpenDialog({
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
