import type { ReactNode } from 'react';
import { text } from '../text/common.ts';
import { Button } from './button.tsx';
import { copyText } from './copy.tsx';

/** Button that copies the link to an object, with what the address says about its display. */
export function CopyLink({ url }: { readonly url: string }): ReactNode {
  const copy = async (): Promise<void> => {
    const link = new URL(url);
    link.search = location.search;
    link.searchParams.delete('peek');
    await copyText(link.href, text.linkCopied);
  };
  return <Button onClick={() => void copy()}>{text.copyLink}</Button>;
}
