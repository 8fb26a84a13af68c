import { useState, type ReactNode } from 'react';
import { text } from '../text/common.ts';
import { Button } from './button.tsx';
import { notify, notifyProblem } from './toast.tsx';

/** Text with a button that copies it, such as a secret that is shown once. */
export function Copy({ value }: { readonly value: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      setCopied(true);
      notify(text.copied);
    } catch (error) {
      // Browsers allow it only on pages with HTTPS or on this machine.
      notifyProblem(error);
    }
  };
  return (
    <div className="row">
      <pre className="grow">{value}</pre>
      <Button onClick={() => void copy()}>{isCopied ? text.copied : text.copy}</Button>
    </div>
  );
}
