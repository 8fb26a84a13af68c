// Sample data of the inbox: Ben is mentioned.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { ana, ben, sampleId, sampleIssue, timeAfter, type Samples } from '../../kernel/samples.ts';
import type { inboxItem } from './contract.ts';

export const inboxSamples: Samples = ({ nowMs }) => {
  const [before, now] = [timeAfter(nowMs, -2), timeAfter(nowMs, 0)];
  return {
    objects: {
      ...problemsOf(nowMs),
      inbox_item: {
        id: sampleId('inb'),
        member: ben,
        reason: 'mentioned',
        kind: 'issue_mentioned',
        title: `${ana.name} mentioned you in ENG-42`,
        body: 'Seen on 2.4 as well, @Ben. The log says `ENOSPC`, and then nothing.',
        target: { kind: 'comment', id: sampleId('cmt') },
        issue: sampleIssue,
        actor: { kind: 'user', ...ana },
        count: 1,
        happenedAt: now,
        readAt: null,
        archivedAt: null,
        snoozedUntil: null,
      } satisfies Partial<EntityResponse<typeof inboxItem>>,
      'inbox.preferences_updated': {
        member: ben,
        assigned: true,
        mentioned: true,
        replied: true,
        subscribed: false,
        triage: true,
        sla: true,
        project_update: true,
      },
    },
    moments: {
      'inbox.item_updated': {
        now: { count: 2, happenedAt: now },
        previous: { count: 1, happenedAt: before },
      },
      'inbox.item_read': { now: { readAt: now }, previous: { readAt: null } },
      'inbox.item_archived': {
        now: { readAt: before, archivedAt: now },
        previous: { archivedAt: null },
      },
    },
  };
};

/** Problems reported by the server. */
function problemsOf(nowMs: number) {
  const problem = {
    kind: 'backup',
    message: 'The last backup of this server failed or is too old. The server administrator must check it.',
    since: timeAfter(nowMs, -1),
  };
  return {
    'system.problem_raised': { ...problem, until: null },
    'system.problem_cleared': { ...problem, until: timeAfter(nowMs, 0) },
  };
}
