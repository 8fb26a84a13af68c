// How issues are stored, shown and announced: their labels lie in a table of their own, their number is taken at commit, and
// they are shown by hand, because every list, event and delivery does it.
import type { Column } from '../../changes/columns.ts';
import { isoTime } from '../../changes/operations.ts';
import type { Shown } from '../../contract/contract.ts';
import type { Directory, View } from '../../context.ts';
import type { EventType } from '../../events/catalogue.ts';
import { kindOf, type EntityOf } from '../../resource/kind.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp } from '../../store/store.ts';
import { findTeam } from '../directory.ts';
import { issue, priorities } from './contract.ts';
import { issueNumber } from './number.ts';

export type ShownIssue = Shown<typeof issue>;
export type Issue = EntityOf<typeof issue, typeof kept>;

const takeNumber = tenantStatement(
  'teams.take_number',
  'UPDATE teams SET issue_count = issue_count + 1 WHERE workspace_id = :ws AND id = :teamId',
);
/** None where the label was deleted meanwhile. */
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

const dropLabels = tenantStatement(
  'issue_labels.drop_of_issue',
  'DELETE FROM issue_labels WHERE workspace_id = :ws AND issue_id = :issueId',
);
/** Threads at once: replies refer to their first comment. */
const dropComments = tenantStatement(
  'comments.drop_of_issue',
  'DELETE FROM comments WHERE workspace_id = :ws AND issue_id = :issueId',
);

/** Fails the batch that would make an issue its own ancestor, whatever else commits at the same time. */
const noCircle = tenantStatement(
  'issues.no_circle',
  `UPDATE issues SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS (
     WITH RECURSIVE above (id) AS (
       SELECT parent_id FROM issues WHERE workspace_id = :ws AND id = :id
       UNION SELECT i.parent_id FROM above JOIN issues AS i ON i.workspace_id = :ws AND i.id = above.id
     ) SELECT 1 FROM above WHERE above.id = :id)`,
);

/** The most urgent first and `none` last, as an ascending sort wants it. */
const ranks = priorities.toReversed();
const priority: Column = {
  column: 'priority',
  read: (value) => ranks[Number(value)],
  write: (value) => ranks.indexOf(value as (typeof priorities)[number]),
};

const kept = {
  labelIds: {
    select:
      '(SELECT group_concat(label_id) FROM issue_labels WHERE workspace_id = :ws AND issue_id = issues.id)',
    read: (value) => (value === null ? [] : String(value).split(',')),
  } as Column<readonly string[]>,
  /** Team id and number of the parent, read along with the issue. */
  parentPlace: {
    select:
      "(SELECT p.team_id || ' ' || p.number FROM issues AS p WHERE p.workspace_id = :ws AND p.id = issues.parent_id)",
  } as Column<string | null>,
};

export const issueKind = kindOf(issue, {
  kept,
  columns: { priority },
  events(before, after) {
    if (!before) return ['issue.created'];
    if (before.deletedAt !== after.deletedAt)
      return [after.deletedAt === null ? 'issue.restored' : 'issue.deleted'];
    const types: EventType[] = ['issue.updated'];
    if (before.stateId !== after.stateId) types.push('issue.state_changed');
    if (before.assigneeId !== after.assigneeId) types.push('issue.assigned');
    if (before.labelIds.join() !== after.labelIds.join()) types.push('issue.labeled');
    return types;
  },
  special: {
    insertExpressions: {
      number: '(SELECT issue_count FROM teams WHERE workspace_id = :ws AND id = :team_id)',
    },
    related(scope, before, after) {
      const had = new Set(before?.labelIds);
      const has = new Set(after.labelIds);
      return {
        first: before ? [] : [tenantOp(scope, takeNumber, { teamId: after.teamId }, { expectRows: 1 })],
        last: [
          ...(before && after.parentId !== null && after.parentId !== before.parentId
            ? [tenantOp(scope, noCircle, { id: after.id }, { expectRows: 1 })]
            : []),
          ...after.labelIds
            .filter((labelId) => !had.has(labelId))
            .map((labelId) => tenantOp(scope, addLabel, { issueId: after.id, labelId }, { expectRows: 1 })),
          ...[...had]
            .filter((labelId) => !has.has(labelId))
            .map((labelId) => tenantOp(scope, dropLabel, { issueId: after.id, labelId })),
        ],
      };
    },
    purged: {
      event: 'issue.purged',
      rows: (scope, { id: issueId }) => [
        tenantOp(scope, dropLabels, { issueId }),
        tenantOp(scope, dropComments, { issueId }),
      ],
    },
    subjectId: (issue) => issue.id,
    alias: { columns: ['team_id', 'number'], values: placeOf },
    learns: { what: issueNumber, of: (issue) => (issue.number === null ? issue.id : null) },
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
      project: projectOf(issue.projectId, directory),
      parent: parentOf(issue, directory),
      estimate: issue.estimate,
      dueDate: issue.dueDate,
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

/** Team and number of an identifier. */
function placeOf(identifier: string, { directory }: Pick<View, 'directory'>) {
  // Far from where ids have their underscore, and cheap for every id that is looked at.
  const at = identifier.indexOf('-');
  if (at < 0) return undefined;
  const team = findTeam(directory, identifier.slice(0, at));
  return team ? { team_id: team.id, number: Number(identifier.slice(at + 1)) } : null;
}

function stateOf(id: string, { states }: Directory): ShownIssue['state'] {
  const state = states.get(id);
  // A state is never forgotten while an issue stands in it, so the type is there.
  return { id, name: state?.name ?? '', type: state?.type as ShownIssue['state']['type'] };
}

function memberOf(id: string | null, { members }: Directory): ShownIssue['assignee'] {
  return id === null ? null : { id, name: members.get(id)?.name ?? '' };
}

function projectOf(id: string | null, { projects }: Directory): ShownIssue['project'] {
  const project = id === null ? undefined : projects.get(id);
  return project ? { id: project.id, name: project.name } : null;
}

/** By name; deleted ones are left out. */
function labelsOf(ids: readonly string[], { labels }: Directory): ShownIssue['labels'] {
  const shown: { id: string; name: string }[] = [];
  for (const id of ids) {
    const label = labels.get(id);
    if (label) shown.push({ id, name: label.name });
  }
  return shown.length > 1 ? shown.sort((a, b) => (a.name < b.name ? -1 : 1)) : shown;
}

function parentOf({ parentId, parentPlace }: Issue, { teams }: Directory): ShownIssue['parent'] {
  if (parentId === null) return null;
  const [team = '', number = ''] = parentPlace?.split(' ') ?? [];
  // A parent of the same run has no number yet, and no event of its child ever learns it.
  const identifier = number === '' ? null : `${teams.get(team)?.key ?? ''}-${number}`;
  return { id: parentId, identifier };
}
