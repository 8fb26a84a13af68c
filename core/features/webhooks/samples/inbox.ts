// Sample data around the issue: Ben reacts, subscribes and gets an inbox item.
import type { EntityResponse } from '../../../kernel/contract/contract.ts';
import type { inboxItem } from '../../inbox/contract.ts';
import type { reaction } from '../../reactions/contract.ts';
import type { subscriber } from '../../subscribers/contract.ts';
import { dayMs } from '../../../platform/lib/time/time.ts';
import { ana, ben, idOf, type SampleSetting, type SampleScenario } from './fixtures.ts';

const issue = { id: idOf('iss'), identifier: 'ENG-42' };

export function inboxScenario({ nowMs }: SampleSetting): SampleScenario {
  const [before, now] = [new Date(nowMs - 2 * dayMs).toISOString(), new Date(nowMs).toISOString()];
  return {
    objects: {
      reaction: {
        id: idOf('rct'),
        issue,
        commentId: idOf('cmt'),
        emoji: '👀',
        actor: { kind: 'user', ...ben },
      } satisfies Partial<EntityResponse<typeof reaction>>,
      subscriber: {
        id: idOf('sub'),
        issue,
        member: ben,
        reason: 'mentioned',
      } satisfies Partial<EntityResponse<typeof subscriber>>,
      inbox_item: {
        id: idOf('inb'),
        member: ben,
        reason: 'mentioned',
        kind: 'issue_mentioned',
        title: `${ana.name} mentioned you in ENG-42`,
        body: 'Seen on 2.4 as well, @Ben. The log says `ENOSPC`, and then nothing.',
        target: { kind: 'comment', id: idOf('cmt') },
        issue,
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
}
