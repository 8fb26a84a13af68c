// Issues: their public shape, how they are stored, and the events that their changes mean. Spec › Issue.
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind, type Field } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import type { EventType } from '../../events/catalogue.ts';
import { teamKey } from '../../identity/teams/schema.ts';
import { Closed, date, id, named, nullable, text, time, uuid, version } from '../../lib/schema.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp } from '../../store/store.ts';
import { stateTypes } from '../workflows/schema.ts';
import { issueNumber } from './number.ts';

/** In the order of the stored rank: the most urgent first, `none` last. */
export const priorities = ['urgent', 'high', 'medium', 'low', 'none'] as const;
export const priority = Type.Enum(['none', 'low', 'medium', 'high', 'urgent']);

export const descriptionBytesMax = 256 * 1024;
const description = Type.String({
  maxLength: descriptionBytesMax,
  description: 'Markdown, at most 256 KiB.',
});
const estimate = Type.Number({ minimum: 0, maximum: 10000 });
const externalText = Type.String({ minLength: 1, maxLength: 255, description: 'Up to 255 characters.' });
const reference = Closed({ id: Type.String(), name: Type.String() });

export const IssueShown = named(
  'Issue',
  Closed({
    id: id('issue'),
    identifier: nullable(
      Type.String({ description: '<TEAM_KEY>-<number>; null while staged or simulated.' }),
    ),
    number: nullable(Type.Integer()),
    title: Type.String(),
    description,
    state: Closed({ id: id('state'), name: Type.String(), type: Type.Enum([...stateTypes]) }),
    priority,
    assignee: nullable(reference),
    creator: Closed({
      kind: Type.Enum(['user', 'plugin', 'system']),
      id: Type.String(),
      name: Type.String(),
    }),
    team: Closed({ id: uuid, key: teamKey, name: Type.String() }),
    labels: Type.Array(reference),
    project: nullable(reference),
    parent: nullable(Closed({ id: id('issue'), identifier: Type.String() })),
    estimate: nullable(estimate),
    dueDate: nullable(date),
    externalSource: nullable(Type.String()),
    externalId: nullable(Type.String()),
    version,
    createdAt: time,
    updatedAt: time,
    url: nullable(Type.String({ format: 'uri' })),
  }),
);

/** An issue with `fields` or `expand`: fewer fields, or whole objects in place of references. */
export const IssueListed = named('IssueListed', Type.Partial(IssueShown, { additionalProperties: false }));

/** What a creation answers with (Spec › Issue). */
export const IssueCreated = named(
  'IssueCreated',
  Closed({
    id: id('issue'),
    identifier: nullable(Type.String()),
    title: Type.String(),
    priority,
    url: nullable(Type.String({ format: 'uri' })),
  }),
);

const labelInput = Type.Array(Type.String({ minLength: 1, maxLength: 80 }), {
  maxItems: 50,
  uniqueItems: true,
  description: 'Names or ids of labels.',
});
const writable = {
  description: Type.Optional(description),
  priority: Type.Optional(priority),
  stateId: Type.Optional(id('state')),
  assigneeId: Type.Optional(nullable(id('member'))),
  labels: Type.Optional(labelInput),
  projectId: Type.Optional(nullable(id('project'))),
  parentId: Type.Optional(nullable(id('issue'))),
  estimate: Type.Optional(nullable(estimate)),
  dueDate: Type.Optional(nullable(date)),
};
const title = text(500, 'A title of 1 to 500 characters.');

export const IssueCreate = named(
  'IssueCreate',
  Closed({
    team: Type.Optional(teamKey),
    teamKey: Type.Optional(teamKey),
    teamId: Type.Optional(uuid),
    title,
    ...writable,
    externalSource: Type.Optional(externalText),
    externalId: Type.Optional(externalText),
  }),
);
export const IssueUpdate = named('IssueUpdate', Closed({ title: Type.Optional(title), ...writable }));
export const IssueBulk = Closed({ issues: Type.Array(IssueCreate, { minItems: 1, maxItems: 100 }) });

export interface Issue extends Entity {
  readonly teamId: string;
  /** Null until committed. */
  readonly number: number | null;
  readonly title: string;
  readonly description: string;
  readonly stateId: string;
  readonly priority: (typeof priorities)[number];
  readonly assigneeId: string | null;
  readonly creatorKind: 'user' | 'plugin' | 'system';
  readonly creatorId: string;
  readonly creatorName: string;
  readonly labelIds: readonly string[];
  readonly projectId: string | null;
  readonly parentId: string | null;
  /** Team id and number of the parent, read along with the issue. */
  readonly parentPlace: string | null;
  readonly estimate: number | null;
  readonly dueDate: string | null;
  readonly externalSource: string | null;
  readonly externalId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
}

export type ShownIssue = Static<typeof IssueShown>;

const takeNumber = tenantStatement(
  'teams.take_number',
  'UPDATE teams SET issue_count = issue_count + 1 WHERE workspace_id = :ws AND id = :teamId',
);
const addLabel = tenantStatement(
  'issue_labels.add',
  'INSERT INTO issue_labels (workspace_id, issue_id, label_id) VALUES (:ws, :issueId, :labelId)',
);
const dropLabel = tenantStatement(
  'issue_labels.drop',
  'DELETE FROM issue_labels WHERE workspace_id = :ws AND issue_id = :issueId AND label_id = :labelId',
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

const rank: Field = {
  column: 'priority',
  read: (value) => priorities[Number(value)],
  write: (value) => priorities.indexOf(value as (typeof priorities)[number]),
};

export const issueKind = defineKind<Issue, ShownIssue>({
  name: 'issue',
  table: 'issues',
  fields: {
    teamId: 'team_id',
    number: 'number',
    title: 'title',
    description: 'description',
    stateId: 'state_id',
    priority: rank,
    assigneeId: 'assignee_id',
    creatorKind: 'creator_kind',
    creatorId: 'creator_id',
    creatorName: 'creator_name',
    labelIds: {
      select:
        '(SELECT group_concat(label_id) FROM issue_labels WHERE workspace_id = :ws AND issue_id = issues.id)',
      read: (value) => (value === null ? [] : String(value).split(',')),
    },
    projectId: 'project_id',
    parentId: 'parent_id',
    parentPlace: {
      select:
        "(SELECT p.team_id || ' ' || p.number FROM issues AS p WHERE p.workspace_id = :ws AND p.id = issues.parent_id)",
    },
    estimate: 'estimate',
    dueDate: 'due_date',
    externalSource: 'external_source',
    externalId: 'external_id',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
    deletedAt: 'deleted_at',
  },
  insertExpressions: { number: '(SELECT issue_count FROM teams WHERE workspace_id = :ws AND id = :team_id)' },
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
          .map((labelId) => tenantOp(scope, addLabel, { issueId: after.id, labelId })),
        ...[...had]
          .filter((labelId) => !has.has(labelId))
          .map((labelId) => tenantOp(scope, dropLabel, { issueId: after.id, labelId })),
      ],
    };
  },
  subjectId: (issue) => issue.id,
  team: { of: (issue) => issue.teamId, isIn: (list) => `team_id IN (${list})` },
  learns: { what: issueNumber, of: (issue) => (issue.number === null ? issue.id : null) },
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
  wire(issue, { directory, baseUrl }) {
    const team = directory.teams.get(issue.teamId);
    const state = directory.states.get(issue.stateId);
    const identifier = `${team?.key ?? ''}-${issue.number ?? ''}`;
    const [parentTeam = '', parentNumber = ''] = issue.parentPlace?.split(' ') ?? [];
    const labels: { id: string; name: string }[] = [];
    for (const labelId of issue.labelIds) {
      const label = directory.labels.get(labelId);
      if (label) labels.push({ id: label.id, name: label.name });
    }
    if (labels.length > 1) labels.sort((a, b) => (a.name < b.name ? -1 : 1));
    const createdAt = isoTime(issue.createdAt);
    const project = issue.projectId === null ? undefined : directory.projects.get(issue.projectId);
    return {
      id: issue.id,
      identifier,
      number: issue.number,
      title: issue.title,
      description: issue.description,
      state: { id: issue.stateId, name: state?.name ?? '', type: state?.type as ShownIssue['state']['type'] },
      priority: issue.priority,
      assignee:
        issue.assigneeId === null
          ? null
          : { id: issue.assigneeId, name: directory.members.get(issue.assigneeId)?.name ?? '' },
      creator: { kind: issue.creatorKind, id: issue.creatorId, name: issue.creatorName },
      team: { id: issue.teamId, key: team?.key ?? '', name: team?.name ?? '' },
      labels,
      project: project ? { id: project.id, name: project.name } : null,
      parent:
        issue.parentId === null
          ? null
          : {
              id: issue.parentId,
              identifier: `${directory.teams.get(parentTeam)?.key ?? ''}-${parentNumber}`,
            },
      estimate: issue.estimate,
      dueDate: issue.dueDate,
      externalSource: issue.externalSource,
      externalId: issue.externalId,
      version: issue.version,
      createdAt,
      updatedAt: issue.updatedAt === issue.createdAt ? createdAt : isoTime(issue.updatedAt),
      url: `${baseUrl}/issues/${identifier}`,
    };
  },
});
