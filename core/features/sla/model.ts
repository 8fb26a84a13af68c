// Storage, representation and events of SLA clocks. Changing a clock also sets its timer and the due time of
// its issue.
import { plain, type Column } from '../../kernel/changes/operations.ts';
import type { EventType } from '../../kernel/events/catalogue.ts';
import { timerOp } from '../../kernel/event-reactions/due-timers.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { neverDue, type Issue } from '../issues/index.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { slaClock, slaTimerName } from './contract.ts';
import { firesAt } from './counting.ts';

/** Columns of the issue that are shown with a clock, as a JSON array. */
const issueColumns = 'i.team_id, i.number, i.title, i.assignee_id, i.creator_id';

export interface ClockIssue {
  readonly teamId: string;
  readonly number: number;
  readonly title: string;
  readonly assigneeId: string | null;
  readonly creatorId: string;
}

function parseIssue(text: string): ClockIssue {
  const [teamId, number, title, assigneeId, creatorId] = JSON.parse(text);
  return { teamId, number, title, assigneeId, creatorId };
}

/** Returns `place` of a new clock. */
export const placeOf = ({ teamId, number, title, assigneeId, creatorId }: Issue): string =>
  JSON.stringify([teamId, number, title, assigneeId, creatorId]);

const storedFields = {
  issueId: plain<string>('issue_id'),
  countedFrom: plain<number>('counted_from'),
  sequence: plain<number>('sequence'),
  place: {
    select: `(SELECT json_array(${issueColumns}) FROM issues AS i WHERE i.workspace_id = :ws AND i.id = sla_clocks.issue_id)`,
  } as Column<string>,
};

export type SlaClock = EntityOf<typeof slaClock, typeof storedFields>;

const setDue = tenantStatement(
  'issues.set_sla_due',
  `UPDATE issues SET sla_due_at = coalesce((SELECT min(c.due_at) FROM sla_clocks AS c INDEXED BY sla_clocks_open
     WHERE c.workspace_id = :ws AND c.issue_id = :issueId AND c.ended_at IS NULL), ${neverDue})
   WHERE workspace_id = :ws AND id = :issueId`,
);
/** Fails the batch that starts a clock if its policy was deleted in the meantime. */
const requirePolicy = tenantStatement(
  'sla_policies.require',
  'UPDATE sla_policies SET version = version WHERE workspace_id = :ws AND id = :policyId AND deleted_at IS NULL',
);

export const clockModel = modelOf(slaClock, {
  table: 'sla_clocks',
  stored: storedFields,
  events: (before, after) => [eventOf(before, after)],
  shows: {
    issue({ issueId, place }, { directory }) {
      const { teamId, number, title } = parseIssue(place);
      return { id: issueId, identifier: `${directory.teams.get(teamId)?.key ?? ''}-${number}`, title };
    },
    team({ place }, { directory }) {
      const { teamId } = parseIssue(place);
      const { key = '', name = '' } = directory.teams.get(teamId) ?? {};
      return { id: teamId, key, name };
    },
    assignee({ place }, { directory }) {
      const { assigneeId } = parseIssue(place);
      return assigneeId === null
        ? null
        : { id: assigneeId, name: directory.members.get(assigneeId)?.name ?? '' };
    },
  },
  subjectId: ({ issueId }) => issueId,
  team: {
    of: ({ place }) => parseIssue(place).teamId,
    isIn: (list) =>
      `EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = :ws AND i.id = sla_clocks.issue_id AND i.team_id IN (${list}))`,
  },
  related(scope, before, after) {
    const { id, issueId, policyId } = after;
    const isDueAnew = before?.dueAt !== after.dueAt || before.endedAt !== after.endedAt;
    return {
      first: before ? [] : [tenantOp(scope, requirePolicy, { policyId }, { expectRows: 1 })],
      last: [
        timerOp(scope, slaTimerName, id, firesAt(after)),
        ...(isDueAnew ? [tenantOp(scope, setDue, { issueId })] : []),
      ],
    };
  },
});

export function teamIdOf({ place }: SlaClock): string {
  return parseIssue(place).teamId;
}

export function creatorOf({ place }: SlaClock): string {
  return parseIssue(place).creatorId;
}

function eventOf(before: SlaClock | null, after: SlaClock): EventType {
  if (!before) return 'sla.started';
  if (after.endedAt !== null && after.state !== 'met')
    return after.reachedAt === null ? 'sla.canceled' : 'sla.reached_late';
  if (before.state === 'paused' && after.state !== 'met') return 'sla.resumed';
  switch (after.state) {
    case 'paused':
    case 'at_risk':
    case 'breached':
    case 'met':
      return `sla.${after.state}`;
    default:
      throw new Error(`The clock ${after.id} has not changed.`);
  }
}
