import type { ReactNode } from 'react';

interface PanelProps {
  readonly identifier: string;
  readonly onClose: () => void;
}

export default function IssuePanel({ identifier, onClose }: PanelProps): ReactNode {
  return <button onClick={onClose}>{identifier}</button>;
}
