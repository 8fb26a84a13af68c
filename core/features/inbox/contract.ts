import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { actor, choice, json, number, reference, string, time } from '../../kernel/contract/field.ts';
import { member } from '../people/contract.ts';
import { Closed } from '../../platform/lib/schema.ts';
import { issueReference } from '../issues/contract.ts';

export const switchableReasons = [
  'assigned',
  'mentioned',
  'replied',
  'subscribed',
  'triage',
  'sla',
  'project_update',
] as const;
/** Reasons of system notifications, which members cannot switch off. */
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
  'plugin_missed_events',
  'plugin_loop',
  'plugin_budget',
  'plugin_probation_ended',
  'automation_disabled',
  'automation_stepped_down',
  'system_problem',
  'proposal_made',
] as const;

const target = Closed({
  kind: Type.String({ description: 'Type of the object, such as `issue` or `webhook`.' }),
  id: Type.String({ description: 'Id of the object.' }),
});

export const inboxItem = defineContract({
  name: 'inbox_item',
  path: 'inbox',
  title: 'InboxItem',
  id: 'inb',
  doc: 'Notification for one member, with the reason for it. Visible to that member only.',
  fields: {
    member: reference(member, { write: 'never', doc: 'Member who receives the notification.' }),
    reason: choice([...switchableReasons, ...systemReasons], {
      write: 'never',
      filter: true,
      doc: 'Reason for the notification.',
    }),
    kind: choice(kinds, { write: 'never', doc: 'Type of the notification.' }),
    title: string(Type.String(), { write: 'never', doc: 'Summary of the notification in one line.' }),
    body: string(Type.String(), { write: 'never', doc: 'Body of the notification.' }),
    target: json(target, { write: 'never', doc: 'Object that the notification is about.' }),
    issue: json(issueReference, {
      nullable: true,
      write: 'never',
      doc: 'Issue that the notification is about; null if it is not about an issue.',
    }),
    actor: actor({ nullable: true, doc: 'Author of the change; null for changes by the system.' }),
    count: number(
      { integer: true, minimum: 1 },
      {
        write: 'never',
        doc: 'Number of similar events on the issue since the notification was created; its content is from the latest.',
      },
    ),
    happenedAt: time({ write: 'never', doc: 'Time of the latest event.' }),
    readAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the notification was read; null while unread.',
    }),
    archivedAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the notification was archived; null unless archived.',
    }),
    snoozedUntil: time({
      nullable: true,
      write: 'update',
      doc: 'Time until which the notification is snoozed; it then returns as unread. Null unless snoozed.',
    }),
  },
  subscriptionScope: 'inboxes:read',
  undo: { never: 'Inbox items can be read or archived by their member only.' },
  operations: {
    list: 'List the items of your inbox, newest first',
    get: 'Get an item of your inbox',
    update: 'Mark or unmark an inbox item as read, archived or snoozed',
  },
  events: {
    announced: ['inbox.item_created'],
    other: ['inbox.item_updated', 'inbox.item_read', 'inbox.item_archived'],
  },
  examples: { update: { snoozedUntil: '2027-01-04T08:00:00Z' } },
});
