// Draft of a new issue, stored in this browser until the issue is created or the draft is discarded.
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

/** A draft belongs to a person in a workspace. */
const keyOf = (workspaceId: string, memberId: string): string => `tatami.draft ${workspaceId} ${memberId}`;

export function storedDraft(workspaceId: string, memberId: string): Partial<IssueDraft> {
  try {
    return JSON.parse(localStorage.getItem(keyOf(workspaceId, memberId)) ?? '{}') as Partial<IssueDraft>;
  } catch {
    return {};
  }
}

/** @param draft null to remove it */
export function storeDraft(workspaceId: string, memberId: string, draft: IssueDraft | null): void {
  const key = keyOf(workspaceId, memberId);
  if (draft && (draft.title !== '' || draft.description !== ''))
    localStorage.setItem(key, JSON.stringify(draft));
  else localStorage.removeItem(key);
}

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
