// Writes that show at once. The answer of the server confirms them, or takes them back with a message.
import type { Client, Issue, IssuePatch } from '@tatami/sdk/client';
import { notify, notifyProblem } from '../parts/overlay/toast.tsx';
import { replaceObject } from './live.ts';
import { queryClient, useApp } from './provider.tsx';

/** Fields as the list shows them, to show a change before the server answers. */
type IssueDraft = Partial<Omit<Issue, 'id' | 'version'>>;

export interface IssueChange {
  /** Fields of the issue as they are shown now. */
  readonly issue: Pick<Issue, 'id' | 'version'> & Partial<Issue>;
  readonly patch: IssuePatch;
  /** The change as it will look. */
  readonly draft: IssueDraft;
}

/** @returns the changed issue; null if the change was taken back, which the person was told */
export async function changeIssue(
  client: Client,
  { issue, patch, draft }: IssueChange,
): Promise<Issue | null> {
  replaceShown({ ...issue, ...draft });
  try {
    const changed = await client.issues.update(issue.id, patch);
    replaceObject(queryClient, 'issues', changed);
    return changed;
  } catch (error) {
    replaceShown(issue);
    notifyProblem(error);
    return null;
  }
}

/** Shows an issue in this form until a newer version arrives. */
function replaceShown(issue: IssueChange['issue']): void {
  const { version: _, ...shown } = issue;
  replaceObject(queryClient, 'issues', shown);
}

/** Returns a function that runs a write and reports its failure. It returns null for a failed write. */
export function useWrite(): <T>(write: (client: Client) => Promise<T>, done?: string) => Promise<T | null> {
  const { client } = useApp();
  return async (write, done) => {
    try {
      const result = await write(client);
      if (done !== undefined) notify(done);
      return result;
    } catch (error) {
      notifyProblem(error);
      return null;
    }
  };
}
