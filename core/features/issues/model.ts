// Storage, representation and events of issues. Labels have their own table; the number is assigned at
// commit; the representation is written by hand for speed, because every list, event and delivery uses it.
import type { CommitView } from '../../kernel/changes/change.ts';
import type { Context, Directory } from '../../kernel/context.ts';
import { json, type Column, isoTime } from '../../kernel/changes/operations.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import type { EventType } from '../../kernel/events/catalogue.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { placeOfIssue } from './part.ts';
import { issueNumber, issueOps, purgeOps } from './rows.ts';
import { findTeam } from '../../kernel/resource/names/teams.ts';
import { amends } from '../../kernel/changes/sources.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';
import { toStoredFields, toFieldsResponse, type FieldValues } from '../fields/index.ts';
import { issue, priorities } from './contract.ts';

export type IssueResponse = EntityResponse<typeof issue>;
export type Issue = EntityOf<typeof issue, typeof storedFields>;

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
    cached: {
      dependencies: [{ table: 'issue_labels', key: 'issue_id', columns: new Set(['label_id']) }],
      // Rows come in the order of their key.
      settle: ({ labelIds }: { labelIds: readonly string[] }) => labelIds.toSorted(),
    },
  } as Column<readonly string[]>,
  /** Values of custom fields; null if there are none. */
  fieldValues: json<FieldValues | null>('fields_json'),
  /** Team id and number of the parent, separated by a space. */
  parentPlace: {
    select:
      "(SELECT p.team_id || ' ' || p.number FROM issues AS p WHERE p.workspace_id = :ws AND p.id = issues.parent_id)",
    cached: {
      dependencies: [placeOfIssue],
      // The parent may have moved since the change was planned, or may get its number in the same commit.
      settle: ({ parentId }: { parentId: string | null }) => (parentId === null ? null : undefined),
    },
  } as Column<string | null>,
};

/** Times that follow the workflow state. */
const stateTimes = ['startedAt', 'completedAt', 'canceledAt'] as const;

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
  insertExpressions: {
    number: 'coalesce(:number, (SELECT issue_count FROM teams WHERE workspace_id = :ws AND id = :team_id))',
  },
  related: issueOps,
  purged: { event: 'issue.purged', rows: purgeOps },
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
  commitAssigned: {
    rule: issueNumber,
    field: 'number',
    of: (issue) => (issue.number === null ? issue.id : null),
  },
  toResponse(issue, { directory, baseUrl }) {
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

/** Fails the batch if the issue was deleted in the meantime. */
const markActive = tenantStatement(
  'issues.mark_active',
  `UPDATE issues SET updated_at = max(updated_at, :at)
   WHERE workspace_id = :ws AND id = :issueId AND deleted_at IS NULL`,
);
amends<Issue>(markActive, issueModel.source, (issue, { at }) => ({
  ...issue,
  updatedAt: Math.max(issue.updatedAt, Number(at)),
}));

/** Updates the time of an issue for a change of one of its parts, without a new version. @param at milliseconds */
export const activityOp = (scope: Scope, issueId: string, at: number): Op =>
  tenantOp(scope, markActive, { issueId, at }, { expectRows: 1 });

/** Fails the batch if the issue was changed in the meantime. */
const markUnchanged = tenantStatement(
  'issues.mark_unchanged',
  'UPDATE issues SET version = version WHERE workspace_id = :ws AND id = :issueId AND version = :version',
);
amends<Issue>(markUnchanged, issueModel.source, (issue) => issue);

/**
 * Returns the check that an event of another object shows the present issue. A batch that changes the issue itself
 * needs none, because that change checks the version.
 */
export const shownOps = (scope: Scope, view: CommitView, { id, version }: Issue): Op[] =>
  view.after(issueModel.name, id)
    ? []
    : [tenantOp(scope, markUnchanged, { issueId: id, version }, { expectRows: 1 })];

export type StateTimes = Pick<Issue, (typeof stateTimes)[number]>;
type Timed = Pick<Issue, 'stateId'> & StateTimes;

const unknown: StateTimes = { startedAt: null, completedAt: null, canceledAt: null };
const notBegunTypes: ReadonlySet<string> = new Set(['triage', 'backlog', 'unstarted']);

/**
 * Returns the fields that follow the workflow state of an issue; every writer of `stateId` must use it. An issue
 * that leaves its state is no longer snoozed.
 */
export function inState(
  ctx: Context,
  issue: Timed | null,
  stateId: string,
): Pick<Issue, 'stateId' | 'snoozedUntil'> & StateTimes {
  return { stateId, snoozedUntil: null, ...timesIn(ctx, issue, stateId) };
}

/**
 * Returns the state times of an issue that enters a state. A move between states of the same type does not
 * change them, even if unknown.
 * @param issue null for a creation
 */
function timesIn(
  { directory: { states }, nowMs }: Context,
  issue: Timed | null,
  stateId: string,
): StateTimes {
  const type = states.get(stateId)?.type ?? '';
  const isEntry = type !== (issue && states.get(issue.stateId)?.type);
  const { startedAt, completedAt, canceledAt } = issue ?? unknown;
  const entry = (isIn: boolean, before: number | null): number | null => {
    if (!isIn) return null;
    return isEntry ? nowMs() : before;
  };
  return {
    startedAt: notBegunTypes.has(type) ? null : (startedAt ?? entry(type === 'started', null)),
    completedAt: entry(type === 'completed', completedAt),
    canceledAt: entry(type === 'canceled' || type === 'duplicate', canceledAt),
  };
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
