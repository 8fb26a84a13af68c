// Draft of a new issue.
import type { Issue, IssueCreate } from '@tatami/sdk/client';

export interface IssueDraft {
  readonly title: string;
  readonly description: string;
  /** Key of the team; empty for the first one. */
  readonly team: string;
  readonly stateId: string;
  readonly assigneeId: string;
  readonly priority: Issue['priority'];
  readonly labels: readonly string[];
  readonly projectId: string;
  readonly cycleId: string;
  readonly dueDate: string;
}

export const emptyDraft: IssueDraft = {
  title: '',
  description: '',
  team: '',
  stateId: '',
  assigneeId: '',
  priority: 'none',
  labels: [],
  projectId: '',
  cycleId: '',
  dueDate: '',
};

/** @param parentId id of the parent; empty for none */
export function requestOf(draft: IssueDraft, team: string, parentId: string): IssueCreate {
  const { title, description, stateId, assigneeId, priority, labels, projectId, cycleId, dueDate } = draft;
  const given = Object.entries({ description, stateId, assigneeId, projectId, cycleId, parentId, dueDate });
  return {
    team,
    title,
    priority,
    labels,
    ...Object.fromEntries(given.filter(([, value]) => value !== '')),
  };
}
