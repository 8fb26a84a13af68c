import { useState, type ReactNode } from 'react';
import { text } from '../text/common.ts';
import { Button } from './button.tsx';
import { notify, notifyProblem } from './overlay/toast.tsx';

/** Copies a text to the clipboard, and says so. @returns false if the browser refuses it, which the person was told */
export async function copyText(value: string, done: string = text.copied): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    notify(done);
    return true;
  } catch (error) {
    // Browsers allow it only on pages with HTTPS or on this machine.
    notifyProblem(error);
    return false;
  }
}

/** Text with a button that copies it, such as a secret that is shown once. */
export function Copy({ value }: { readonly value: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    if (await copyText(value)) setCopied(true);
  };
  return (
    <div className="row">
      <pre className="grow">{value}</pre>
      <Button onClick={() => void copy()}>{isCopied ? text.copied : text.copy}</Button>
    </div>
  );
}
