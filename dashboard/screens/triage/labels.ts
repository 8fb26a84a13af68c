// Changes of labels that can be undone.
import type { IssueUpdate } from '@tatami/sdk/client';

/** Returns the update that leads from some labels to others. Labels that others change meanwhile stay as they are. */
export function labelChange(
  from: readonly string[],
  to: readonly string[],
): Pick<IssueUpdate, 'addLabels' | 'removeLabels'> {
  const added = to.filter((id) => !from.includes(id));
  const removed = from.filter((id) => !to.includes(id));
  return {
    ...(added.length > 0 && { addLabels: added }),
    ...(removed.length > 0 && { removeLabels: removed }),
  };
}

export const idsOf = (all: readonly { readonly id: string }[]): string[] => all.map(({ id }) => id);
