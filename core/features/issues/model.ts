// Storage, representation and events of issues. Labels have their own table; the number is assigned at
// commit; the representation is written by hand for speed, because every list, event and delivery uses it.
import { json, type Column, isoTime } from '../../kernel/changes/operations.ts';
import { timerOp } from '../../kernel/event-reactions/due-timers.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import type { Directory } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/catalogue.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';
import { enteringOps } from './references/cycle.ts';
import { findTeam } from '../../kernel/resource/names/teams.ts';
import { toStoredFields, toFieldsResponse, type FieldValues } from '../fields/index.ts';
import { issueToIndex } from './search-pending.ts';
import { issue, priorities, snoozeTimerName } from './contract.ts';
import { stateTimes } from './query/in-state.ts';
import { issueNumber } from './order/number.ts';
import { purgedOps } from './purged.ts';

export type IssueResponse = EntityResponse<typeof issue>;
export type Issue = EntityOf<typeof issue, typeof storedFields>;

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
const storeFormerIdentifier = tenantStatement(
  'former_identifiers.add',
  'INSERT INTO former_identifiers (workspace_id, team_id, number, issue_id) VALUES (:ws, :teamId, :number, :id)',
);
/** Affects no row if the label was deleted in the meantime. */
const addLabel = tenantStatement(
  'issue_labels.add',
  `INSERT INTO issue_labels (workspace_id, issue_id, label_id, created_at)
   SELECT :ws, i.id, w.id, i.created_at FROM issues AS i JOIN labels AS w ON w.workspace_id = :ws AND w.id = :labelId
   WHERE i.workspace_id = :ws AND i.id = :issueId AND w.deleted_at IS NULL`,
);
const dropLabel = tenantStatement(
  'issue_labels.drop',
  'DELETE FROM issue_labels WHERE workspace_id = :ws AND issue_id = :issueId AND label_id = :labelId',
);

/** Tables whose rows are deleted with the issue, without events of their own. */
const dropParts = [
  'issue_labels',
  'board_cards',
  'reactions',
  'subscribers',
  'agent_issues',
  'inbox_items',
  // One statement for whole threads: replies refer to their first comment.
  'comments',
  'release_issues',
  'sla_clocks',
  'attachments',
].map((table) =>
  tenantStatement(
    `${table}.drop_of_issue`,
    `DELETE FROM ${table} WHERE workspace_id = :ws AND issue_id = :issueId`,
  ),
);
const dropOrder = tenantStatement(
  'order_versions.drop_of_issue',
  'DELETE FROM order_versions WHERE workspace_id = :ws AND id = :issueId',
);
const dropRelations = tenantStatement(
  'relations.drop_of_issue',
  'DELETE FROM relations WHERE workspace_id = :ws AND (from_id = :issueId OR issue_id = :issueId)',
);

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
const rememberProject = tenantStatement(
  'project_issues.add',
  'INSERT OR IGNORE INTO project_issues (workspace_id, project_id, id) VALUES (:ws, :projectId, :issueId)',
);

/**
 * Stored ranks: the most urgent is 0 and `none` is last, so that an ascending sort lists urgent issues first.
 */
const ranks = priorities.toReversed();
const priority: Column = {
  column: 'priority',
  read: (value) => ranks[Number(value)],
  write: (value) => ranks.indexOf(value as (typeof priorities)[number]),
};

/** Largest time that a JavaScript date can represent. */
export const neverDue = 8_640_000_000_000_000;
/** Null is stored as the largest time, so that lists sort by the column alone, with undated issues last. */
const slaDueAt: Column<number | null> = {
  column: 'sla_due_at',
  read: (value) => (value === neverDue ? null : value),
  write: (value) => Number(value ?? neverDue),
};

const storedFields = {
  labelIds: {
    select:
      '(SELECT group_concat(label_id) FROM issue_labels WHERE workspace_id = :ws AND issue_id = issues.id)',
    read: (value) => (value === null ? [] : String(value).split(',')),
  } as Column<readonly string[]>,
  /** Values of custom fields; null if there are none. */
  fieldValues: json<FieldValues | null>('fields_json'),
  /** Team id and number of the parent, separated by a space. */
  parentPlace: {
    select:
      "(SELECT p.team_id || ' ' || p.number FROM issues AS p WHERE p.workspace_id = :ws AND p.id = issues.parent_id)",
  } as Column<string | null>,
};

export const issueModel = modelOf(issue, {
  stored: storedFields,
  columns: { priority, slaDueAt },
  events(before, after, { directory }) {
    if (!before) return ['issue.created'];
    if (before.deletedAt !== after.deletedAt)
      return [after.deletedAt === null ? 'issue.restored' : 'issue.deleted'];
    const types: EventType[] = ['issue.updated'];
    if (before.teamId !== after.teamId) types.push('issue.moved');
    if (before.stateId !== after.stateId)
      types.push('issue.state_changed', ...triaged(before, after, directory));
    if (before.assigneeId !== after.assigneeId) types.push('issue.assigned');
    if (before.labelIds.join() !== after.labelIds.join()) types.push('issue.labeled');
    return types;
  },
  asItWas: ({ labels, fields, parent }, directory) => ({
    labelIds: (labels as IssueResponse['labels']).map(({ id }) => id),
    fieldValues: toStoredFields(fields as IssueResponse['fields'], directory),
    parentPlace: parentKeyOf(parent as IssueResponse['parent'], directory),
  }),
  special: {
    insertExpressions: {
      number: 'coalesce(:number, (SELECT issue_count FROM teams WHERE workspace_id = :ws AND id = :team_id))',
    },
    related(scope, before, after) {
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
          ...(after.cycleId !== null && after.cycleId !== before?.cycleId ? enteringOps(scope, after) : []),
          ...after.labelIds
            .filter((labelId) => !had.has(labelId))
            .map((labelId) => tenantOp(scope, addLabel, { issueId: after.id, labelId }, { expectRows: 1 })),
          ...[...had]
            .filter((labelId) => !has.has(labelId))
            .map((labelId) => tenantOp(scope, dropLabel, { issueId: after.id, labelId })),
          ...issueToIndex(scope, before, after),
        ],
      };
    },
    purged: {
      event: 'issue.purged',
      rows: (scope, { id: issueId, teamId, number, createdAt }) => [
        tenantOp(scope, storeFormerIdentifier, { id: issueId, teamId, number }),
        ...dropParts.map((drop) => tenantOp(scope, drop, { issueId })),
        tenantOp(scope, dropOrder, { issueId }),
        tenantOp(scope, dropRelations, { issueId }),
        ...purgedOps(scope, { id: issueId, createdAt }),
      ],
    },
    follows: {
      from: 'stateId',
      fields: stateTimes,
    },
    subjectId: (issue) => issue.id,
    alias: {
      columns: ['team_id', 'number'],
      values: parseIdentifier,
      former: { table: 'former_identifiers', id: 'issue_id' },
    },
    commitAssigned: { what: issueNumber, of: (issue) => (issue.number === null ? issue.id : null) },
  },
  wire(issue, { directory, baseUrl }) {
    const team = directory.teams.get(issue.teamId);
    const identifier = `${team?.key ?? ''}-${issue.number ?? ''}`;
    const createdAt = isoTime(issue.createdAt);
    return {
      id: issue.id,
      identifier,
      number: issue.number,
      title: issue.title,
      description: issue.description,
      state: stateOf(issue.stateId, directory),
      priority: issue.priority,
      assignee: memberOf(issue.assigneeId, directory),
      creator: { kind: issue.creatorKind, id: issue.creatorId, name: issue.creatorName },
      team: { id: issue.teamId, key: team?.key ?? '', name: team?.name ?? '' },
      labels: labelsOf(issue.labelIds, directory),
      fields: toFieldsResponse(issue.fieldValues, directory),
      project: projectOf(issue.projectId, directory),
      milestone: milestoneOf(issue.milestoneId, directory),
      parent: parentOf(issue, directory),
      subOrder: issue.subOrder,
      snoozedUntil: isoTime(issue.snoozedUntil),
      startedAt: isoTime(issue.startedAt),
      completedAt: isoTime(issue.completedAt),
      canceledAt: isoTime(issue.canceledAt),
      estimate: issue.estimate,
      cycle: cycleOf(issue.cycleId, directory),
      dueDate: issue.dueDate,
      slaDueAt: isoTime(issue.slaDueAt),
      externalSource: issue.externalSource,
      externalId: issue.externalId,
      version: issue.version,
      createdAt,
      updatedAt: issue.updatedAt === issue.createdAt ? createdAt : isoTime(issue.updatedAt),
      deletedAt: isoTime(issue.deletedAt),
      url: `${baseUrl}/issues/${identifier}`,
    };
  },
});

/** Returns statements for a batch that puts an issue into a project or a milestone. */
function projectOps(scope: Scope, before: Issue | null, after: Issue): Op[] {
  const { id, projectId } = after;
  const isAnew = projectId !== null && projectId !== before?.projectId;
  return [
    ...(isPlacedAnew(before, after) ? [tenantOp(scope, ownMilestone, { id }, { expectRows: 1 })] : []),
    ...(isAnew ? [tenantOp(scope, rememberProject, { projectId, issueId: id })] : []),
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
    tenantOp(scope, storeFormerIdentifier, { id, teamId: from, number }),
    tenantOp(scope, takeToTeam, { id, teamId, base }, { expectRows: 1 }),
  ];
}

/** A restored issue sets its timer again, since the time may have passed. */
function isSnoozedAnew(before: Issue | null, after: Issue): boolean {
  if ((before?.snoozedUntil ?? null) !== after.snoozedUntil) return true;
  return after.snoozedUntil !== null && before?.deletedAt !== after.deletedAt;
}

/**
 * An issue that leaves triage is declined if its new state is canceled or duplicate, and accepted otherwise.
 */
function triaged(before: Issue, after: Issue, { states }: Directory): EventType[] {
  const type = states.get(after.stateId)?.type;
  if (states.get(before.stateId)?.type !== 'triage' || type === 'triage') return [];
  return [type === 'canceled' || type === 'duplicate' ? 'issue.triage_declined' : 'issue.triage_accepted'];
}

/**
 * Parses an identifier into the key columns of an issue. Returns undefined for other texts, null for an
 * unknown team.
 */
function parseIdentifier(identifier: string, { directory }: { readonly directory: Directory }) {
  // Ids contain no hyphen, so this check is cheap for them.
  const at = identifier.indexOf('-');
  if (at < 0) return undefined;
  const team = findTeam(directory, identifier.slice(0, at));
  return team ? { team_id: team.id, number: Number(identifier.slice(at + 1)) } : null;
}

function stateOf(id: string, { states }: Directory): IssueResponse['state'] {
  const state = states.get(id);
  // A state in use by an issue is never purged from the directory, so the type exists.
  return { id, name: state?.name ?? '', type: state?.type as IssueResponse['state']['type'] };
}

function memberOf(id: string | null, { members }: Directory): IssueResponse['assignee'] {
  return id === null ? null : { id, name: members.get(id)?.name ?? '' };
}

function projectOf(id: string | null, { projects }: Directory): IssueResponse['project'] {
  const project = id === null ? undefined : projects.get(id);
  return project ? { id: project.id, name: project.name } : null;
}

function milestoneOf(id: string | null, { milestones }: Directory): IssueResponse['milestone'] {
  const milestone = id === null ? undefined : milestones.get(id);
  return milestone ? { id: milestone.id, name: milestone.name } : null;
}

function cycleOf(id: string | null, { cycles }: Directory): IssueResponse['cycle'] {
  const cycle = id === null ? undefined : cycles.get(id);
  return cycle ? { id: cycle.id, number: cycle.number, name: cycle.name } : null;
}

/** Sorts labels by name and omits deleted ones. */
function labelsOf(ids: readonly string[], { labels }: Directory): IssueResponse['labels'] {
  const response: { id: string; name: string }[] = [];
  for (const id of ids) {
    const label = labels.get(id);
    if (label) response.push({ id, name: label.name });
  }
  return response.length > 1 ? response.sort((a, b) => (a.name < b.name ? -1 : 1)) : response;
}

/** Returns `parentPlace` of a past parent. */
function parentKeyOf(parent: IssueResponse['parent'], directory: Directory): string | null {
  const parsed = parent?.identifier ? parseIdentifier(parent.identifier, { directory }) : null;
  return parsed ? `${parsed.team_id} ${parsed.number}` : null;
}

function parentOf({ parentId, parentPlace }: Issue, { teams }: Directory): IssueResponse['parent'] {
  if (parentId === null) return null;
  const [team = '', number = ''] = parentPlace?.split(' ') ?? [];
  // A parent created by the same run has no number yet, and the commit does not add the number to events of
  // its child.
  const identifier = number === '' ? null : `${teams.get(team)?.key ?? ''}-${number}`;
  return { id: parentId, identifier };
}
