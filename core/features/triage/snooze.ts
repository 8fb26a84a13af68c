// Timer that ends the snooze of an issue in triage.
import type { DueTimer } from '../../kernel/event-reactions/due-timer.ts';
import { putOff } from '../teams/archived.ts';
import { team } from '../teams/contract.ts';
import { issueModel, snoozeTimerName, type Issue } from '../issues/model.ts';

export const snooze: DueTimer = {
  name: snoozeTimerName,
  isSetBy: ({ kind, after }) =>
    kind === team.name || (kind === issueModel.name && (after as Issue).snoozedUntil !== null),
  async fire(ctx, id) {
    const issue = await issueModel.find(ctx, id);
    const isDue =
      issue?.snoozedUntil != null && issue.deletedAt === null && issue.snoozedUntil <= ctx.nowMs();
    const waits = isDue && putOff(ctx, issue.teamId, { name: snoozeTimerName, id });
    if (waits) return waits;
    const change = isDue ? issueModel.update(issue, { snoozedUntil: null }, ctx.nowMs()) : null;
    return { changes: change ? [change] : [] };
  },
};
