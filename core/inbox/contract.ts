// The inbox: what each member should look at, an item for each reason.
import { Type } from 'typebox';
import { defineContract } from '../contract/contract.ts';
import { actor, choice, json, number, reference, string, time } from '../contract/field.ts';
import { member } from '../identity/members/contract.ts';
import { Closed } from '../lib/schema.ts';
import { issueNamed } from '../tracker/issues/contract.ts';

/** Why a member is told what people and clocks do: each can be switched off. */
export const switchableReasons = [
  'assigned',
  'mentioned',
  'replied',
  'subscribed',
  'triage',
  'sla',
  'project_update',
] as const;
/** Why admins and owners are told what the system did by itself, and what waits for them. */
const systemReasons = ['webhook', 'plugin', 'system', 'proposal'] as const;

const kinds = [
  'issue_assigned',
  'issue_mentioned',
  'comment_replied',
  'comment_added',
  'issue_changed',
  'issue_triage',
  'sla_at_risk',
  'sla_breached',
  'project_update',
  'webhook_disabled',
  'plugin_disabled',
  'plugin_unheard',
  'plugin_missed_events',
  'plugin_loop',
  'plugin_budget',
  'plugin_probation_ended',
  'system_problem',
  'proposal_made',
] as const;

const target = Closed({
  kind: Type.String({ description: 'Such as `issue` or `webhook`.' }),
  id: Type.String({ description: 'Its id.' }),
});

export const inboxItem = defineContract({
  name: 'inbox_item',
  path: 'inbox',
  title: 'InboxItem',
  id: 'inb',
  doc: 'What happened that one member should look at, and why it is they. Nobody else sees it.',
  fields: {
    member: reference(member, { write: 'never', doc: 'Whose item it is.' }),
    reason: choice([...switchableReasons, ...systemReasons], {
      write: 'never',
      filter: true,
      doc: 'Why they are told.',
    }),
    kind: choice(kinds, { write: 'never', doc: 'What kind of thing happened.' }),
    title: string(Type.String(), { write: 'never', doc: 'What happened, in one line.' }),
    body: string(Type.String(), { write: 'never', doc: 'What there is to say of it.' }),
    target: json(target, { write: 'never', doc: 'What it is about.' }),
    issue: json(issueNamed, {
      nullable: true,
      write: 'never',
      doc: 'The issue that it is about; null where it is about none.',
    }),
    actor: actor({ nullable: true, doc: 'Who did it; null where the system did by itself.' }),
    count: number(
      { integer: true, minimum: 1 },
      {
        write: 'never',
        doc: 'How many times the like happened on the issue since the item was made: it tells of the last.',
      },
    ),
    happenedAt: time({ write: 'never', doc: 'When it happened, the last time.' }),
    readAt: time({ nullable: true, write: 'never', doc: 'When it was read; null while it is unread.' }),
    archivedAt: time({ nullable: true, write: 'never', doc: 'When it was put away; null while it is not.' }),
    snoozedUntil: time({
      nullable: true,
      write: 'update',
      doc: 'When it comes back, unread; null where it does not rest.',
    }),
  },
  heardBy: 'inboxes:read',
  undo: { never: 'Inbox items are read or archived by their member alone.' },
  operations: {
    list: "What one's own inbox holds, newest first",
    get: "Get an item of one's own inbox",
    update: 'Read, archive or snooze an item, or undo that',
  },
  events: {
    told: ['inbox.item_created'],
    other: ['inbox.item_updated', 'inbox.item_read', 'inbox.item_archived'],
  },
  examples: { update: { snoozedUntil: '2027-01-04T08:00:00Z' } },
});
