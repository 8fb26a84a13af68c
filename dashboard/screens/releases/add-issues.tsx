// Dialog that adds issues to a release.
import type { Release } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { IssueDialog } from '../../parts/issue/issue-dialog.tsx';
import { messageOf } from '../../parts/states.tsx';
import { text } from '../../text/planning.ts';

interface AddIssuesProps {
  readonly release: Release;
  readonly onClose: () => void;
}

/** It stays open, so that a person can add several issues. */
export default function AddIssues({ release: { id, issueIds }, onClose }: AddIssuesProps): ReactNode {
  const client = useClient();
  const [message, setMessage] = useState('');
  const [problem, setProblem] = useState('');
  const add = async (issueId: string, name: string): Promise<void> => {
    try {
      const release = await client.releases.issues.add(id, { issueIds: [issueId] });
      queryClient.setQueryData(['releases', id], release);
      setProblem('');
      setMessage(text.isAdded(name));
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <IssueDialog
      label={text.addIssues}
      excluded={issueIds}
      onPick={(issue) => void add(issue.id, issue.identifier ?? issue.id)}
      onClose={onClose}
    >
      <p role="alert" hidden={problem === ''} className="notice problem">
        {problem}
      </p>
      <p role="status" className="soft">
        {message}
      </p>
    </IssueDialog>
  );
}
