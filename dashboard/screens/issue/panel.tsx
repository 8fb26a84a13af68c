import type { ReactNode } from 'react';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { text } from '../../text/common.ts';
import { IssueView } from './view.tsx';

interface PanelProps {
  readonly identifier: string;
  readonly onClose: () => void;
}

/** The issue beside a list or board. */
export default function IssuePanel({ identifier, onClose }: PanelProps): ReactNode {
  useShortcuts([{ keys: 'escape', label: text.close, run: onClose }]);
  return <IssueView key={identifier} identifier={identifier} isPage={false} onClose={onClose} />;
}
