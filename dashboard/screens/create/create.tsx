import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { text } from '../../text/shell.ts';

export function CreateButton(): ReactNode {
  return <Button look="primary">{text.newIssue}</Button>;
}

/** Opens the dialog for a new issue. */
export function openCreate(): void {}
