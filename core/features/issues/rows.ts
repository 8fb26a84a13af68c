// Statements in the batch of an issue, beside its own row: number, labels, project, cycle, timers, search,
// and purge. They enforce what concurrent writers could break.
import {
  appendStatement,
  isObjectBody,
  type CommitAssignedRule,
  type ObjectBody,
} from '../../kernel/events/log/append.ts';
import { timerOp } from '../../kernel/event-reactions/due-timers.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';
import type { Context } from '../../kernel/context.ts';
import type { Issue } from './model.ts';
import { snoozeTimerName } from './contract.ts';
import { formerIdentifierTable, issueLabelTable, purgedIssueTable, purgedTimerName } from './tables.ts';
import { dropStatementsOf, tableOf } from '../tables.ts';

/** Returns the statements before and after the one that writes the issue. */
export function issueOps(scope: Scope, before: Issue | null, after: Issue) {
  const had = new Set(before?.labelIds);
  const has = new Set(after.labelIds);
  return {
    first: before && before.teamId === after.teamId ? [] : numbering(scope, before, after),
    last: [
      ...(isSnoozedAnew(before, after)
        ? [timerOp(scope, snoozeTimerName, after.id, after.snoozedUntil)]
        : []),
      ...(before && after.parentId !== null && after.parentId !== before.parentId
        ? [tenantOp(scope, noCircle, { id: after.id }, { expectRows: 1 })]
        : []),
      ...projectOps(scope, before, after),
      ...(after.cycleId !== null && after.cycleId !== before?.cycleId ? cycleOps(scope, after) : []),
      ...after.labelIds
        .filter((labelId) => !had.has(labelId))
        .map((labelId) => tenantOp(scope, addLabel, { issueId: after.id, labelId }, { expectRows: 1 })),
      ...[...had]
        .filter((labelId) => !has.has(labelId))
        .map((labelId) => dropLabel(scope, { issue_id: after.id, label_id: labelId })),
    ],
  };
}

/** A restored issue sets its timer again, since the time may have passed. */
function isSnoozedAnew(before: Issue | null, after: Issue): boolean {
  if ((before?.snoozedUntil ?? null) !== after.snoozedUntil) return true;
  return after.snoozedUntil !== null && before?.deletedAt !== after.deletedAt;
}

/** Affects no row if the team was archived in the meantime. */
const takeNumber = tenantStatement(
  'teams.take_number',
  'UPDATE teams SET issue_count = issue_count + 1 WHERE workspace_id = :ws AND id = :teamId AND archived_at IS NULL',
);

/**
 * Fails the batch if the number is part of a former identifier; a current number violates the unique index of
 * issues.
 */
const takeRequestedNumber = tenantStatement(
  'teams.take_given_number',
  `UPDATE teams SET issue_count = max(issue_count, :number) WHERE workspace_id = :ws AND id = :teamId AND archived_at IS NULL AND NOT EXISTS (
     SELECT 1 FROM former_identifiers WHERE workspace_id = :ws AND team_id = :teamId AND number = :number)`,
);

/** Sets team and number in one statement, because numbers are unique per team. */
const takeToTeam = tenantStatement(
  'issues.take_to_team',
  `UPDATE issues SET team_id = :teamId, number = (SELECT issue_count FROM teams WHERE workspace_id = :ws AND id = :teamId)
   WHERE workspace_id = :ws AND id = :id AND version = :base`,
);

const storeFormerIdentifier = formerIdentifierTable.insert('add');

/**
 * Returns statements that assign a number of the issue's team. A former identifier still resolves to the
 * issue.
 */
function numbering(scope: Scope, before: Issue | null, { id, teamId, number: requested }: Issue): Op[] {
  if (!before && requested !== null)
    return [tenantOp(scope, takeRequestedNumber, { teamId, number: requested }, { expectRows: 1 })];
  const taken = tenantOp(scope, takeNumber, { teamId }, { expectRows: 1 });
  if (!before) return [taken];
  const { version: base, teamId: from, number } = before;
  return [
    taken,
    storeFormerIdentifier(scope, { team_id: from, number: number!, issue_id: id }),
    tenantOp(scope, takeToTeam, { id, teamId, base }, { expectRows: 1 }),
  ];
}

/**
 * The number of an issue is assigned at commit. Until then its identifier and url end before the number
 * (`ENG-`, `https://…/issues/ENG-`), on the issue itself and in the `issue` of other objects:
 * docs/decisions/0003.
 */
export const issueNumber: CommitAssignedRule = {
  append: appendStatement(
    'events.append_with_issue_number',
    '(SELECT number FROM issues WHERE workspace_id = :ws AND id = :learnsOf)',
  ),
  waits: /"identifier":"[A-Z0-9]+-"/,
  complete(response, number) {
    const completed: Record<string, unknown> = { ...response };
    if (isCut(response)) {
      completed.identifier = `${response.identifier}${number}`;
      if (typeof response.url === 'string') completed.url = `${response.url}${number}`;
      if (response.number === null) completed.number = number;
    }
    if (isObjectBody(response.issue)) completed.issue = issueNumber.complete(response.issue, number);
    return completed;
  },
  hide(response) {
    const hidden: Record<string, unknown> = { ...response };
    if (isCut(response)) {
      hidden.identifier = null;
      if ('url' in response) hidden.url = null;
    }
    if (isObjectBody(response.issue)) hidden.issue = issueNumber.hide(response.issue);
    return hidden;
  },
};

function isCut(response: ObjectBody): response is ObjectBody & { readonly identifier: string } {
  return typeof response.identifier === 'string' && response.identifier.endsWith('-');
}

/** Fails a batch that would make an issue its own ancestor, even with concurrent commits. */
const noCircle = tenantStatement(
  'issues.no_circle',
  `UPDATE issues SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS (
     WITH RECURSIVE above (id) AS (
       SELECT parent_id FROM issues WHERE workspace_id = :ws AND id = :id
       UNION SELECT i.parent_id FROM above JOIN issues AS i ON i.workspace_id = :ws AND i.id = above.id
     ) SELECT 1 FROM above WHERE above.id = :id)`,
);

/** Fails a batch that would give an issue a deleted milestone, or one of another project. */
const ownMilestone = tenantStatement(
  'issues.own_milestone',
  `UPDATE issues SET version = version WHERE workspace_id = :ws AND id = :id AND EXISTS (
     SELECT 1 FROM milestones AS m WHERE m.workspace_id = :ws AND m.id = issues.milestone_id
       AND m.project_id = issues.project_id AND m.deleted_at IS NULL)`,
);

/** Records all issues that were ever in a project, so that its progress can be read from the log. */
const rememberProject = tableOf.project_issues.upsert('add', ['project_id', 'id'], []);

/** Returns statements for a batch that puts an issue into a project or a milestone. */
function projectOps(scope: Scope, before: Issue | null, after: Issue): Op[] {
  const { id, projectId } = after;
  const isAnew = projectId !== null && projectId !== before?.projectId;
  return [
    ...(isPlacedAnew(before, after) ? [tenantOp(scope, ownMilestone, { id }, { expectRows: 1 })] : []),
    ...(isAnew ? [rememberProject(scope, { project_id: projectId, id })] : []),
  ];
}

/** Returns true if the batch puts an issue into a milestone, or restores an issue that has one. */
function isPlacedAnew(before: Issue | null, after: Issue): boolean {
  if (after.milestoneId === null || after.deletedAt !== null) return false;
  return (
    before?.milestoneId !== after.milestoneId ||
    before.projectId !== after.projectId ||
    before.deletedAt !== null
  );
}

/** Fails the batch if the cycle was completed or deleted in the meantime. */
const holdOpen = tenantStatement(
  'cycles.hold_open',
  `UPDATE cycles SET version = version WHERE workspace_id = :ws AND id = :cycleId AND team_id = :teamId
     AND status <> 'completed' AND deleted_at IS NULL`,
);

/** Records all issues that were ever in a cycle, so that its progress can be read from the log. */
const rememberCycle = tableOf.cycle_issues.upsert('add', ['cycle_id', 'id'], []);

/** Returns statements for the batch that puts an issue into a cycle. */
function cycleOps(scope: Scope, { id, teamId, cycleId }: Issue): Op[] {
  return [
    tenantOp(scope, holdOpen, { cycleId, teamId }, { expectRows: 1 }),
    rememberCycle(scope, { cycle_id: cycleId!, id }),
  ];
}

/**
 * Returns statements for the batch that restores an issue, which fail if the cycle is completed at the same
 * time.
 */
export function requireOpenOps({ scope, directory }: Context, teamId: string, cycleId: string | null): Op[] {
  return cycleId === null || directory.cycles.get(cycleId)?.status === 'completed'
    ? []
    : [tenantOp(scope, holdOpen, { cycleId, teamId }, { expectRows: 1 })];
}

/** Affects no row if the label was deleted in the meantime. */
const addLabel = tenantStatement(
  'issue_labels.add',
  `INSERT INTO issue_labels (workspace_id, issue_id, label_id, created_at)
   SELECT :ws, :issueId, w.id, i.created_at FROM issues AS i JOIN labels AS w ON w.workspace_id = :ws AND w.id = :labelId
   WHERE i.workspace_id = :ws AND i.id = :issueId AND w.deleted_at IS NULL`,
);

const dropLabel = issueLabelTable.remove('drop', ['issue_id', 'label_id']);

/** Statements that delete the rows of each table that belong to the issue, without events of their own. */
const dropParts = dropStatementsOf('issues');

/** Data stored elsewhere about purged issues is found by this record: docs/spec/durability.md › Retention. */
const addPurged = purgedIssueTable.upsert('add', ['id', 'created_at'], []);

/** Returns the statements that remove what belongs to a purged issue, and record the purge. */
export function purgeOps(scope: Scope, { id: issueId, teamId, number, createdAt }: Issue): Op[] {
  return [
    storeFormerIdentifier(scope, { team_id: teamId, number: number!, issue_id: issueId }),
    ...dropParts.map((drop) => tenantOp(scope, drop, { id: issueId })),
    addPurged(scope, { id: issueId, created_at: createdAt }),
    timerOp(scope, purgedTimerName, scope.workspaceId, createdAt),
  ];
}
