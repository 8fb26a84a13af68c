// Completes a milestone when its last issue is done, and reopens it when an issue is open again. Runs after
// each creation, deletion and restoration of an issue, and after each change of its state or milestone.
import type { Change } from '../../kernel/changes/change.ts';
import type { Context } from '../../kernel/context.ts';
import type { EventRow } from '../../kernel/events/event.ts';
import { nothing, type Reaction } from '../../kernel/event-reactions/reaction.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { milestoneModel } from './model.ts';

const ofIssues = ['issue.created', 'issue.updated', 'issue.deleted', 'issue.restored'];

const issueThat = (name: string, condition: string) =>
  tenantStatement<{ id: string }>(
    `milestones.${name}`,
    `SELECT i.id AS id FROM issues AS i INDEXED BY issues_milestone
     JOIN states AS s ON s.workspace_id = :ws AND s.id = i.state_id
     WHERE i.workspace_id = :ws AND i.milestone_id = :id AND i.milestone_id IS NOT NULL AND i.deleted_at IS NULL
       AND ${condition} LIMIT 1`,
  );
const openIssue = issueThat('open_issue', "s.type NOT IN ('completed', 'canceled', 'duplicate')");
const completedIssue = issueThat('completed_issue', "s.type = 'completed'");

export const milestoneCompletion: Reaction = {
  name: 'milestone',
  subscribesTo: (type) => ofIssues.includes(type),
  async react(ctx, event) {
    const concerned = milestonesOf(event);
    if (concerned.size === 0) return nothing;
    const changes: Change[] = [];
    for (const id of concerned) changes.push(...(await changeOf(ctx, id)));
    return { changes };
  },
};

interface MilestoneEventData {
  readonly milestone?: { readonly id: string } | null;
  readonly state?: object;
}

/** Returns the milestones that an event may have completed or reopened. */
function milestonesOf({ type, data }: EventRow): ReadonlySet<string> {
  const { milestone, previous = {} } = data as MilestoneEventData & { previous?: MilestoneEventData };
  const isMoved = type !== 'issue.updated' || 'state' in previous || 'milestone' in previous;
  const concerned = isMoved ? [milestone, previous.milestone] : [];
  return new Set(concerned.flatMap((one) => one?.id ?? []));
}

async function changeOf(ctx: Context, id: string): Promise<Change[]> {
  const milestone = await milestoneModel.find(ctx, id);
  if (!milestone || milestone.deletedAt !== null) return [];
  const isDone = !(await isThere(ctx, openIssue, id)) && (await isThere(ctx, completedIssue, id));
  if (isDone === (milestone.completedAt !== null)) return [];
  const change = milestoneModel.update(milestone, { completedAt: isDone ? ctx.nowMs() : null }, ctx.nowMs());
  return change ? [change] : [];
}

async function isThere({ store, scope }: Context, statement: typeof openIssue, id: string): Promise<boolean> {
  return (await store.readOne(scope, statement, { id })) !== undefined;
}
