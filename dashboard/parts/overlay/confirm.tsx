import type { ReactNode } from 'react';
import { text } from '../../text/common.ts';
import { Button } from '../button.tsx';
import { Dialog } from './dialog.tsx';

interface ConfirmProps {
  readonly title: string;
  readonly hint: ReactNode;
  /** Label of the button that confirms. */
  readonly action: string;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

/** Question before an act that cannot be undone. */
export function Confirm({ title, hint, action, onClose, onConfirm }: ConfirmProps): ReactNode {
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <div>{hint}</div>
      <div className="row">
        <Button
          look="danger"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </Button>
        <Button onClick={onClose}>{text.cancel}</Button>
      </div>
    </Dialog>
  );
}
