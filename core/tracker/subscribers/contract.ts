// Subscribers: who is told of what becomes of an issue.
import { defineContract } from '../../contract/contract.ts';
import { choice, json, reference } from '../../contract/field.ts';
import { member } from '../../identity/members/contract.ts';
import { issueNamed } from '../issues/contract.ts';

export const subscriber = defineContract({
  name: 'subscriber',
  path: 'subscribers',
  scope: 'issues',
  title: 'Subscriber',
  id: 'sub',
  doc: 'A member who is told of what becomes of an issue.',
  fields: {
    issue: json(issueNamed, { write: 'never', computed: true, doc: 'The issue that they follow.' }),
    member: reference(member, { write: 'never', doc: 'Who follows it.' }),
    reason: choice(['created', 'assigned', 'commented', 'mentioned', 'added'], {
      write: 'never',
      doc: 'Why they do: what they did on the issue, or that somebody added them.',
    }),
  },
  undo: 'values',
  operations: {},
  events: { told: ['issue.subscribed', 'issue.unsubscribed'] },
  ofTeam: true,
  calls: ['list'],
});
