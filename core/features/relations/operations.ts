// Relations. A row stores the relation from `fromId` to `issueId`; for the other issue, responses contain the
// inverse. A relation is published as an event of each of its two issues, but does not change their version,
// so relating an issue does not conflict with editing it. The events show the issues, so a commit that found them
// changed is planned again.
import { asLeft, type Change, type ChangeSet } from '../../kernel/changes/change.ts';
import type { EntityModel } from '../../kernel/changes/model.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { plain, type Column, getEntity, removed } from '../../kernel/changes/operations.ts';
import { pageOfModel } from '../../kernel/changes/list.ts';
import type { Context, Directory } from '../../kernel/context.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { statesOf } from '../workflows/index.ts';
import { issueModel, type Issue, inState, shownOps } from '../issues/index.ts';
import { relation } from './contract.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { relationTable } from './tables.ts';

/** Fields shown of a related issue, selected with the relation. */
interface End {
  readonly id: string;
  readonly teamId: string;
  readonly number: Issue['number'];
  readonly title: string;
  readonly stateId: string;
}

const endOf = (column: string): Column<End> => ({
  select: `(SELECT json_object('id', i.id, 'teamId', i.team_id, 'number', i.number, 'title', i.title, 'stateId', i.state_id)
    FROM issues AS i WHERE i.workspace_id = :ws AND i.id = relations.${column})`,
  read: (value) => JSON.parse(String(value)),
});

const storedFields = { fromId: plain<string>('from_id'), from: endOf('from_id'), to: endOf('issue_id') };
type Relation = EntityOf<typeof relation, typeof storedFields>;
export type RelationType = Relation['type'];

/** Returns true if the change creates or restores the object. */
const isAdded = (
  before: { readonly deletedAt: number | null } | null,
  after: { readonly deletedAt: number | null },
): boolean => (before === null || before.deletedAt !== null) && after.deletedAt === null;

/**
 * One relation per type and pair of issues. Covers both directions: `relates_to` stores the smaller id first, and the inverse of any other type would
 * close a cycle.
 */
const related = relationTable.select(
  'of_pair',
  ['id'],
  ['from_id', 'type', 'issue_id'],
  'AND deleted_at IS NULL',
);

const originalOf = relationTable.select(
  'original_of',
  ['id'],
  ['from_id'],
  "AND type = 'duplicate_of' AND deleted_at IS NULL",
);

/** Returns SQL that is true if one issue reaches another by relations of a type. */
const reaches = (from: string, type: string, to: string): string => `EXISTS (
  WITH RECURSIVE reached (id) AS (
    SELECT ${from} UNION SELECT r.issue_id FROM reached JOIN relations AS r
      ON r.workspace_id = :ws AND r.from_id = reached.id AND r.type = ${type} AND r.deleted_at IS NULL
  ) SELECT 1 FROM reached WHERE reached.id = ${to})`;

const closesCircle = tenantStatement<{ found: number }>(
  'relations.closes_circle',
  `SELECT 1 AS found FROM issues WHERE workspace_id = :ws AND id = :fromId AND ${reaches(':issueId', ':type', ':fromId')}`,
);

/** Fails a batch that would close a cycle, even with concurrent commits. */
const noCircle = tenantStatement(
  'relations.no_circle',
  `UPDATE relations SET version = version WHERE workspace_id = :ws AND id = :id AND NOT
     ${reaches('relations.issue_id', 'relations.type', 'relations.from_id')}`,
);

const relationModel: EntityModel<Relation, EntityResponse<typeof relation>> = modelOf(relation, {
  stored: storedFields,
  shows: {
    issue: ({ to }, { directory }) => {
      const state = directory.states.get(to.stateId);
      return {
        ...issueReference(to, directory),
        title: to.title,
        // A state in use by an issue is never purged from the directory.
        state: { id: to.stateId, name: state?.name ?? '', type: state!.type },
      };
    },
  },
  related: (scope, before, after) => ({
    last:
      isAdded(before, after) && after.type !== 'relates_to'
        ? [tenantOp(scope, noCircle, { id: after.id }, { expectRows: 1 })]
        : [],
  }),
  async comesBack(ctx, deleted) {
    const [from, to] = [
      await issueModel.find(ctx, deleted.fromId),
      await issueModel.find(ctx, deleted.issueId),
    ];
    if (!from || !to)
      throw new ApiError(
        'not_found',
        'One of the issues of this relation was deleted. Restore the issue first.',
      );
    await requireNew(ctx, deleted.type, from, to);
    return withIssueEvents(relationModel.update(deleted, { deletedAt: null }, ctx.nowMs())!, [from, to]);
  },
  team: {
    of: ({ from, to }) => [from.teamId, to.teamId],
    isIn: (list) =>
      `NOT EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = :ws AND i.id IN (relations.from_id, relations.issue_id) AND i.team_id NOT IN (${list}))`,
  },
});

function issueReference({ id, teamId, number }: End, { teams }: Directory) {
  return { id, identifier: number === null ? null : `${teams.get(teamId)?.key ?? ''}-${number}` };
}

export const inverse: Readonly<Record<RelationType, RelationType>> = {
  blocks: 'blocked_by',
  blocked_by: 'blocks',
  duplicate_of: 'duplicated_by',
  duplicated_by: 'duplicate_of',
  relates_to: 'relates_to',
};

/** Returns the relation as seen from an issue. */
function seenFrom(issueId: string, relation: Relation): Relation {
  if (relation.fromId === issueId) return relation;
  const { fromId, from, to, type, issueId: toId } = relation;
  return { ...relation, fromId: toId, from: to, type: inverse[type], issueId: fromId, to: from };
}

export const resource = defineResource(relation, relationModel, {
  // Required for every resource with a parent; the operations below do not use them.
  where: () => [],
  sets: () => ({}),
  operations: {
    async list(ctx, query, parentId) {
      const { id } = await getEntity(ctx, issueModel, parentId ?? '');
      const page = await pageOfModel(ctx, relationModel, query, {
        where: [{ sql: ofIssue, params: { issueId: id } }],
        parameters: { parentId },
      });
      return {
        ...page,
        data: page.data.map((current) => relationModel.toResponse(seenFrom(id, current), ctx)),
      };
    },
    async create(ctx, { type, issueId }, parentId) {
      const issue = await getEntity(ctx, issueModel, parentId ?? '');
      const other = await findOther(ctx, issue, issueId);
      const [storedType, from, to] = storedAs(type, issue, other);
      await requireNew(ctx, storedType, from, to);
      const now = ctx.nowMs();
      const created = relationModel.create({
        id: ctx.ids.next(relation.id),
        type: storedType,
        fromId: from.id,
        from,
        issueId: to.id,
        to,
        ...authorOf(ctx, 'creator'),
        createdAt: now,
        updatedAt: now,
        deletedAt: null,
      });
      const moved = storedType === 'duplicate_of' ? closedAsDuplicate(ctx, from) : null;
      return {
        changes: [...(moved ? [moved] : []), withIssueEvents(created, [from, to])],
        body: relationModel.toResponse(seenFrom(issue.id, created.after), ctx),
        status: 201,
        location: `${ctx.baseUrl}/api/v1/${relation.path}/${created.id}`,
      };
    },
    async get(ctx, id) {
      const { current } = await findWithEnds(ctx, id);
      return relationModel.toResponse(current, ctx);
    },
    async delete(ctx, id, ifMatch) {
      const { current, ends } = await findWithEnds(ctx, id);
      const set: ChangeSet<undefined> = removed(ctx, relationModel, current, ifMatch);
      return { ...set, changes: set.changes.map((change) => withIssueEvents(change, ends)) };
    },
  },
});

/** Relations of an issue on either side, if the other issue is not deleted. */
const ofIssue = `(from_id = :issueId OR issue_id = :issueId) AND deleted_at IS NULL AND EXISTS
  (SELECT 1 FROM issues AS o WHERE o.workspace_id = :ws AND o.deleted_at IS NULL
     AND o.id = CASE WHEN relations.from_id = :issueId THEN relations.issue_id ELSE relations.from_id END)`;

/** Relations of a deleted issue count as deleted. @throws ApiError not_found */
async function findWithEnds(ctx: Context, id: string) {
  const current = await getEntity(ctx, relationModel, id);
  const ends = [
    await getEntity(ctx, issueModel, current.fromId),
    await getEntity(ctx, issueModel, current.issueId),
  ] as const;
  return { current, ends };
}

/** @throws ApiError validation_failed */
async function findOther(ctx: Context, issue: Issue, requested: string): Promise<Issue> {
  const other = await issueModel.find(ctx, requested);
  if (!other || other.deletedAt !== null)
    throw invalidField('issueId', 'not_found', {
      why: `There is no issue ${requested}.`,
      fix: 'Use the id or identifier of an existing issue.',
    });
  if (other.id === issue.id)
    throw invalidField('issueId', 'conflict', {
      why: 'An issue cannot be related to itself.',
      fix: 'Use another issue.',
    });
  return other;
}

/** Returns type and direction as stored: rows have only three of the five types. */
function storedAs(type: RelationType, issue: Issue, other: Issue): [RelationType, Issue, Issue] {
  if (type === 'blocked_by' || type === 'duplicated_by') return [inverse[type], other, issue];
  return type === 'relates_to' && other.id < issue.id ? [type, other, issue] : [type, issue, other];
}

/**
 * Reports conflicts that the unique indexes and the statement `noCircle` would reject.
 * @throws ApiError validation_failed, conflict
 */
async function requireNew(ctx: Context, type: RelationType, from: Issue, to: Issue): Promise<void> {
  const { store, scope } = ctx;
  if (await related.one(store, scope, { from_id: from.id, type, issue_id: to.id }))
    throw invalidField('issueId', 'already_exists', {
      why: 'The two issues already have this relation.',
      fix: 'Use the existing relation.',
    });
  const original = type === 'duplicate_of' && (await originalOf.one(store, scope, { from_id: from.id }));
  if (original)
    throw refused(
      `${nameOf(from, ctx)} is already a duplicate of another issue.`,
      'Remove the existing relation first.',
    );
  const params = { type, fromId: from.id, issueId: to.id };
  if (type !== 'relates_to' && (await store.readOne(scope, closesCircle, params)))
    throw refused(
      `${nameOf(to, ctx)} ${type === 'blocks' ? 'blocks' : 'is a duplicate of'} ${nameOf(from, ctx)} already, directly or through other issues.`,
      'Remove a relation between the issues first.',
    );
}

const nameOf = (issue: Issue, { directory }: Context): string =>
  issueReference(issue, directory).identifier ?? issue.id;

function refused(why: string, fix: string): ApiError {
  return new ApiError('conflict', `${why} ${fix}`, {
    details: [{ path: 'issueId', issue: 'conflict', fix }],
  });
}

/**
 * Returns the change that moves an issue to a state of type duplicate, or else canceled, regardless of the
 * transitions of the team; null if the issue already has that type of state, or the team has no such state.
 */
function closedAsDuplicate(ctx: Context, issue: Issue) {
  const { directory, nowMs } = ctx;
  const states = statesOf(directory, issue.teamId);
  const state =
    states.find(({ type }) => type === 'duplicate') ?? states.find(({ type }) => type === 'canceled');
  const isThere = directory.states.get(issue.stateId)?.type === state?.type;
  return state && !isThere ? issueModel.update(issue, inState(ctx, issue, state.id), nowMs()) : null;
}

/** Replaces the event of a change by one event for each of the two issues. */
function withIssueEvents(change: Change, ends: readonly [Issue, Issue]): Change {
  return {
    ...change,
    ops: (scope, view) => [
      ...ends.flatMap((issue) => shownOps(scope, view, issue)),
      ...change.ops(scope, view),
    ],
    events(view) {
      const left = ends.map((issue) => asLeft(view, issueModel.name, issue));
      return typesOf(change).flatMap((type) =>
        left.map((issue, at) => {
          const { id, type: word } = seenFrom(issue.id, change.after as Relation);
          const other = issueReference(left[1 - at]!, view.directory);
          const data = { ...issueModel.toResponse(issue, view), relation: { id, type: word, issue: other } };
          return issueModel.eventOf(type, issue, data);
        }),
      );
    },
    followedBy: (later) => withIssueEvents(change.followedBy(later), ends),
  };
}

/** A relation created and deleted by the same run emits both events. */
function typesOf({ before, after }: Change) {
  const [was, is] = [before as Relation | null, after as Relation];
  return [
    ...(was === null || isAdded(was, is) ? (['issue.relation_added'] as const) : []),
    ...(is.deletedAt === null ? [] : (['issue.relation_removed'] as const)),
  ];
}
