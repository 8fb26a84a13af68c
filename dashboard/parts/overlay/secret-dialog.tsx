import { useState, type ReactNode } from 'react';
import { text } from '../../text/developers.ts';
import { Button } from '../button.tsx';
import { Copy } from '../copy.tsx';
import { Dialog } from './dialog.tsx';

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** Dialog with a secret that is shown once. Escape or a click beside it warns first. */
export function SecretDialog({ title, secret, onClose }: SecretDialogProps): ReactNode {
  const [isWarned, setWarned] = useState(false);
  return (
    <Dialog title={title} isOpen onClose={() => (isWarned ? onClose() : setWarned(true))}>
      <Copy value={secret} />
      <p className="notice warning">{text.secretOnce}</p>
      {isWarned && (
        <p className="notice problem" role="alert">
          {text.closeSecret}
        </p>
      )}
      <div>
        <Button look="primary" onClick={onClose}>
          {text.done}
        </Button>
      </div>
    </Dialog>
  );
}
