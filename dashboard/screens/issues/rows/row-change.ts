// Changes of one row, by key or by the menu of the row.
import type { Issue, IssueUpdate } from '@tatami/sdk/client';
import { labelsQuery, membersQuery, statesQuery } from '../../../data/directory.ts';
import { queryClient, useClient } from '../../../data/provider.tsx';
import { changeIssue } from '../../../data/writes.ts';
import { notifyProblem } from '../../../parts/overlay/toast.tsx';
import type { ListedIssue } from '../list/list-data.ts';

export const rowFields = ['state', 'assignee', 'priority', 'label'] as const;
export type RowField = (typeof rowFields)[number];

/** Returns a function that changes one issue and shows the change at once. */
export function useRowChange(): (issue: ListedIssue, set: IssueUpdate) => void {
  const client = useClient();
  const change = async (issue: ListedIssue, set: IssueUpdate): Promise<void> => {
    // The dialog that chose the value has loaded them.
    const [states, members, labels] = await Promise.all([
      queryClient.ensureQueryData(statesQuery(client)),
      queryClient.ensureQueryData(membersQuery(client)),
      queryClient.ensureQueryData(labelsQuery(client)),
    ]);
    const { state, assigneeId, priority, addLabels = [], removeLabels = [] } = set;
    const newState = states.find(({ name, team }) => name === state && team === issue.team.key);
    const draft: Partial<Omit<Issue, 'id' | 'version'>> = {
      ...(newState && { state: newState }),
      ...(priority && { priority }),
      ...(assigneeId !== undefined && { assignee: members.find(({ id }) => id === assigneeId) ?? null }),
      labels: [
        ...issue.labels.filter(({ id }) => !removeLabels.includes(id)),
        ...labels.filter(({ id }) => addLabels.includes(id)),
      ],
    };
    await changeIssue(client, { issue, patch: set, draft });
  };
  return (issue, set) => void change(issue, set).catch(notifyProblem);
}
