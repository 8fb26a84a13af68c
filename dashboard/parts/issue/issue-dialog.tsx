import type { Issue } from '@tatami/sdk/client';
import { Suspense, type ReactNode } from 'react';
import { Opening } from '../overlay/dialog.tsx';
import { OpenIssueDialog } from '../overlay/loaded.ts';

export interface FoundIssue extends Pick<Issue, 'id' | 'identifier' | 'title' | 'state'> {
  /** Shown at the end of the line. */
  readonly note?: string;
}

export interface IssueDialogProps {
  readonly label: string;
  /** Ids of issues that cannot be picked. */
  readonly excluded?: readonly string[];
  /** Issues to offer until something is typed. */
  readonly suggested?: readonly FoundIssue[];
  readonly onPick: (issue: FoundIssue) => void;
  readonly onClose: () => void;
  /** Controls above the search. */
  readonly children?: ReactNode;
}

/** Dialog that picks one issue. */
export function IssueDialog(props: IssueDialogProps): ReactNode {
  return (
    <Suspense fallback={<Opening />}>
      <OpenIssueDialog {...props} />
    </Suspense>
  );
}
