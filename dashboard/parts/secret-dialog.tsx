import type { ReactNode } from 'react';
import { text } from '../text/developers.ts';
import { Button } from './button.tsx';
import { Copy } from './copy.tsx';
import { Dialog } from './dialog.tsx';

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** Dialog with a secret that is shown once. */
export function SecretDialog({ title, secret, onClose }: SecretDialogProps): ReactNode {
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <Copy value={secret} />
      <p className="notice warning">{text.secretOnce}</p>
      <div>
        <Button look="primary" onClick={onClose}>
          {text.done}
        </Button>
      </div>
    </Dialog>
  );
}
