/** Priorities as numbers, which issue creation also accepts: the larger, the more urgent. */
import type { IssueCreate } from '../generated/issues.ts';

/** Names of the priorities, indexed by number. */
const priorities = ['none', 'low', 'medium', 'high', 'urgent'] as const;

/** An issue to create. `priority` may be a number: 0 none, 1 low, 2 medium, 3 high, 4 urgent. */
export type NewIssue = Omit<IssueCreate, 'priority'> & {
  priority?: IssueCreate['priority'] | 0 | 1 | 2 | 3 | 4;
};

/** Passes other values unchanged, so that the server rejects them with their path. */
export function worded(issue: NewIssue): IssueCreate {
  const { priority } = issue;
  return { ...issue, priority: typeof priority === 'number' ? (priorities[priority] ?? priority) : priority };
}
