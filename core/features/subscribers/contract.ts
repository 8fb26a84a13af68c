import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, json, reference } from '../../kernel/contract/field.ts';
import { member } from '../people/contract.ts';
import { issueReference } from '../issues/contract.ts';

export const subscriber = defineContract({
  name: 'subscriber',
  path: 'subscribers',
  scope: 'issues',
  title: 'Subscriber',
  id: 'sub',
  doc: 'Member who is notified about an issue.',
  fields: {
    issue: json(issueReference, {
      write: 'never',
      computed: true,
      doc: 'Issue that the member is subscribed to.',
    }),
    member: reference(member, { write: 'never', doc: 'Subscribed member.' }),
    reason: choice(['created', 'assigned', 'commented', 'mentioned', 'added'], {
      write: 'never',
      doc: 'Reason for the subscription: an event of the member on the issue, or `added` by request.',
    }),
  },
  undo: 'values',
  operations: {},
  events: { announced: ['issue.subscribed', 'issue.unsubscribed'] },
  ofTeam: true,
  calls: ['list', 'add'],
});
