// SLA clocks: the time that a policy gives an issue. Changes of the issue start, pause and end them; requests
// never do.
import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, json, number, reference, time } from '../../kernel/contract/field.ts';
import { member } from '../people/contract.ts';
import { Closed, idAndName, idOf, nullable, uuid } from '../../platform/lib/schema.ts';
import { issue } from '../issues/contract.ts';
import { slaPolicy } from '../sla-policies/contract.ts';
import { teamKey } from '../teams/contract.ts';

/** Name of the reaction, of the timer of clocks and deleted policies, and of the actor of their events. */
export const slaTimerName = 'sla';

const states = ['running', 'paused', 'at_risk', 'breached', 'met', 'canceled'] as const;
export type ClockState = (typeof states)[number];

const issueResponse = Closed({
  id: idOf(issue.id),
  identifier: nullable(Type.String({ description: 'Identifier of the issue.' })),
  title: Type.String({ description: 'Title of the issue.' }),
});
const teamResponse = Closed({
  id: uuid,
  key: teamKey,
  name: Type.String({ description: 'Name of the team.' }),
});

export const slaClock = defineContract({
  name: 'sla_clock',
  path: 'sla',
  scope: 'issues',
  title: 'SlaClock',
  id: 'slc',
  doc: 'SLA clock of an issue: due time, state and outcome.',
  parent: issue,
  fields: {
    kind: choice(['first_response', 'resolution'], {
      write: 'never',
      filter: true,
      doc: 'Type of the target: `first_response` is met by a first reply, `resolution` by completing the issue.',
    }),
    state: choice(states, {
      write: 'never',
      filter: true,
      doc: 'State of the clock. A breached clock stays `breached`, even if the target is reached late.',
    }),
    policy: reference(slaPolicy, { write: 'never', filter: true, doc: 'SLA policy of the clock.' }),
    issue: json(issueResponse, { write: 'never', computed: true, doc: 'Issue of the clock.' }),
    team: json(teamResponse, { write: 'never', computed: true, doc: 'Team of the issue.' }),
    assignee: json(idAndName(idOf(member.id), 'the member'), {
      write: 'never',
      computed: true,
      nullable: true,
      doc: 'Assignee of the issue.',
    }),
    startedAt: time({ write: 'never', doc: 'Time at which the policy started to apply to the issue.' }),
    dueAt: time({
      write: 'never',
      nullable: true,
      filter: true,
      doc: 'Due time; null while paused.',
    }),
    atRiskAt: time({
      write: 'never',
      nullable: true,
      doc: 'Time at which the clock becomes at risk; null while paused, and if the policy has no warning.',
    }),
    pausedAt: time({
      write: 'never',
      nullable: true,
      doc: 'Time at which the clock was paused; null unless paused.',
    }),
    remainingMs: number(
      { integer: true },
      { write: 'never', nullable: true, doc: 'Remaining time in milliseconds while paused; null otherwise.' },
    ),
    reachedAt: time({
      write: 'never',
      nullable: true,
      doc: 'Time at which the target was reached, late if the clock is breached; null until then.',
    }),
    endedAt: time({
      write: 'never',
      nullable: true,
      doc: 'Time at which the clock ended; null while it is open.',
    }),
  },
  undo: { never: 'SLA clocks follow from their issues. Undo the change of the issue instead.' },
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
