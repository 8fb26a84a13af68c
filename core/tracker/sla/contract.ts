// SLA clocks: how the time passes that a policy gives an issue. They are started, paused and ended by what happens to the issue, never by
// a request.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, json, number, reference, time } from '../../contract/field.ts';
import { member } from '../../identity/members/contract.ts';
import { Closed, idAndName, idOf, nullable, uuid } from '../../lib/schema.ts';
import { issue } from '../issues/contract.ts';
import { slaPolicy } from '../sla-policies/contract.ts';
import { teamKey } from '../teams/contract.ts';

const states = ['running', 'paused', 'at_risk', 'breached', 'met', 'canceled'] as const;
export type ClockState = (typeof states)[number];

const issueShown = Closed({
  id: idOf(issue.id),
  identifier: nullable(Type.String({ description: 'How people name the issue.' })),
  title: Type.String({ description: 'What the issue is about.' }),
});
const teamShown = Closed({
  id: uuid,
  key: teamKey,
  name: Type.String({ description: 'What the team is called.' }),
});

export const slaClock = defineContract({
  name: 'sla_clock',
  path: 'sla',
  scope: 'issues',
  title: 'SlaClock',
  id: 'slc',
  doc: 'The time that an issue has, by a policy: when it is due, and whether that was kept.',
  parent: issue,
  fields: {
    kind: choice(['first_response', 'resolution'], {
      write: 'never',
      filter: true,
      doc: 'What is to happen in time: that somebody answers, or that the issue is completed.',
    }),
    state: choice(states, {
      write: 'never',
      filter: true,
      doc: 'Where it stands. What was breached stays so, also once it was reached late.',
    }),
    policy: reference(slaPolicy, { write: 'never', filter: true, doc: 'The policy that it counts for.' }),
    issue: json(issueShown, { write: 'never', computed: true, doc: 'The issue whose time it is.' }),
    team: json(teamShown, { write: 'never', computed: true, doc: 'The team of the issue.' }),
    assignee: json(idAndName(idOf(member.id), 'the member'), {
      write: 'never',
      computed: true,
      nullable: true,
      doc: 'Who works on the issue.',
    }),
    startedAt: time({ write: 'never', doc: 'When the issue came under the policy.' }),
    dueAt: time({
      write: 'never',
      nullable: true,
      filter: true,
      doc: 'When the time is over; null while it is paused.',
    }),
    atRiskAt: time({
      write: 'never',
      nullable: true,
      doc: 'When it is at risk; null while it is paused, and where the policy gives no warning.',
    }),
    pausedAt: time({ write: 'never', nullable: true, doc: 'Since when it is paused; null while it is not.' }),
    remainingMs: number(
      { integer: true },
      { write: 'never', nullable: true, doc: 'Milliseconds that are left, of one that is paused.' },
    ),
    reachedAt: time({
      write: 'never',
      nullable: true,
      doc: 'When that happened which was to happen in time; of a breached one, too late.',
    }),
    endedAt: time({
      write: 'never',
      nullable: true,
      doc: 'Since when it counts no more; null while it does.',
    }),
  },
  undo: { never: 'Clocks of service levels follow from their issues: undo the change of the issue.' },
  operations: { list: 'List the SLA clocks of an issue, oldest first' },
  events: {
    created: 'sla.started',
    other: [
      'sla.paused',
      'sla.resumed',
      'sla.at_risk',
      'sla.breached',
      'sla.met',
      'sla.reached_late',
      'sla.canceled',
    ],
  },
  ofTeam: true,
});
