// What was put off in triage comes back at its time.
import type { Alarm } from '../../reactions/alarm.ts';
import { issueKind, snoozeAlarm, type Issue } from '../issues/kind.ts';

export const snooze: Alarm = {
  name: snoozeAlarm,
  isSetBy: ({ kind, after }) => kind === issueKind.name && (after as Issue).snoozedUntil !== null,
  async ring(ctx, id) {
    const issue = await issueKind.find(ctx, id);
    const isDue =
      issue?.snoozedUntil != null && issue.deletedAt === null && issue.snoozedUntil <= ctx.nowMs();
    const change = isDue ? issueKind.update(issue, { snoozedUntil: null }, ctx.nowMs()) : null;
    return { changes: change ? [change] : [] };
  },
};
