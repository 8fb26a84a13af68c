// Changes of several issues at once: first what would change, then the change, which can be undone.
import type { Client, IssueBulkChanged, IssueUpdate } from '@tatami/sdk/client';
import { text } from '../../text/issues.ts';
import type { ListedIssue } from './list-data.ts';

/** Limit of one request. */
export const bulkMax = 500;

export type BulkChange = { readonly kind: 'set'; readonly set: IssueUpdate } | { readonly kind: 'delete' };

const idsOf = (issues: readonly { readonly id: string }[]): string[] =>
  issues.slice(0, bulkMax).map(({ id }) => id);

/** Returns what the change would do, without doing it. @throws ApiCallError */
export async function previewBulk(
  client: Client,
  issues: readonly ListedIssue[],
  change: BulkChange,
): Promise<IssueBulkChanged['data']> {
  const ids = idsOf(issues);
  const simulate = { mode: 'simulate' } as const;
  const { data } = await (change.kind === 'set'
    ? client.issues.bulkUpdate({ ids, set: change.set }, simulate)
    : client.issues.bulkDelete({ ids }, simulate));
  return change.kind === 'set' ? data.filter(({ changes }) => Object.keys(changes).length > 0) : data;
}

export interface BulkDone {
  readonly message: string;
  undo(): Promise<void>;
}

/** @throws ApiCallError */
export async function applyBulk(
  client: Client,
  issues: readonly ListedIssue[],
  change: BulkChange,
): Promise<BulkDone> {
  const ids = idsOf(issues);
  if (change.kind === 'delete') {
    const { data } = await client.issues.bulkDelete({ ids });
    const undo = async (): Promise<void> => {
      for (const { id } of data) await client.issues.restore(id);
    };
    return { message: text.deleted(data.length), undo };
  }
  const { data } = await client.issues.bulkUpdate({ ids, set: change.set });
  const changed = data.filter(({ changes }) => Object.keys(changes).length > 0);
  const before = new Map(issues.map((issue) => [issue.id, issue]));
  const undo = async (): Promise<void> => {
    const groups = Map.groupBy(changed, ({ id }) =>
      JSON.stringify(formerValues(before.get(id)!, change.set)),
    );
    for (const [set, group] of groups)
      await client.issues.bulkUpdate({ ids: group.map(({ id }) => id), set: JSON.parse(set) as IssueUpdate });
  };
  return { message: text.changed(changed.length), undo };
}

type Former = (issue: ListedIssue, set: IssueUpdate) => IssueUpdate;

const has = ({ labels }: ListedIssue, id: string): boolean => labels.some((label) => label.id === id);

/** Former value of an issue for a field of a change. Labels that others change meanwhile stay as they are. */
const former: Readonly<Record<string, Former>> = {
  state: ({ state }) => ({ stateId: state.id }),
  assigneeId: ({ assignee }) => ({ assigneeId: assignee?.id ?? null }),
  priority: ({ priority }) => ({ priority }),
  projectId: ({ project }) => ({ projectId: project?.id ?? null }),
  cycleId: ({ cycle }) => ({ cycleId: cycle?.id ?? null }),
  addLabels: (issue, { addLabels = [] }) => ({ removeLabels: addLabels.filter((id) => !has(issue, id)) }),
  removeLabels: (issue, { removeLabels = [] }) => ({
    addLabels: removeLabels.filter((id) => has(issue, id)),
  }),
};

/** Returns the update that gives an issue its former values in the fields of a change. */
export function formerValues(issue: ListedIssue, set: IssueUpdate): IssueUpdate {
  return Object.assign({}, ...Object.keys(set).map((name) => former[name]?.(issue, set))) as IssueUpdate;
}
