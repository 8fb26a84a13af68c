// Filter fields of issues, with the same names in lists, webhook filters and plugin subscriptions. Adds
// identifier, state id, labels (which have their own table) and custom fields to the fields of the
// contract.
import type { Directory, Context } from '../../../kernel/context.ts';
import type { FilterWay, FilterFields, ReferenceField } from '../../../platform/lib/filter/filter.ts';
import {
  namesIn,
  filterColumnsOf,
  filterFieldsOf,
  type FilterColumns,
} from '../../../kernel/resource/filter/filter.ts';
import type { Deleted } from '../../../kernel/resource/archived.ts';
import { cycle } from '../../cycles/contract.ts';
import { objectsAt } from '../../../kernel/resource/as-of/objects.ts';
import { isSeen } from '../../../kernel/resource/as-of/list.ts';
import { idPattern, nameOf, described } from '../../../platform/lib/schema.ts';
import { createFiltering } from '../../../kernel/resource/filter/filtering.ts';
import type { FilterColumn } from '../../../platform/store/filter-sql.ts';
import { customColumns, customFilterFields } from '../../fields/index.ts';
import { label } from '../../labels/contract.ts';
import { member } from '../../people/contract.ts';
import { isPresent } from '../../people/index.ts';
import { state } from '../../workflows/contract.ts';
import { issue, priorities } from '../contract.ts';
import { issueModel, neverDue } from '../model.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { findTeam } from '../../../kernel/resource/names/teams.ts';
import { requireMe } from '../../../platform/lib/me.ts';
import { Type, type Static } from 'typebox';
import type { Condition } from '../../../platform/store/page.ts';

const ownFields = filterFieldsOf(issue);

const relativeWords = { current: 'current', next: 'next', previous: 'previous' } as const;

/** Returns the ids of the cycles that a filter matches. */
function cyclesMeant(directory: Directory, way: FilterWay, names: readonly string[]): readonly string[] {
  if (way.by !== 'turn') return namesIn(directory, cycle, 'name').ids(way, names);
  return [...new Set(names.flatMap((name) => relativeCycles(directory, name)))];
}

function relativeCycles({ cycles }: Directory, word: string): string[] {
  if (word === 'current')
    return [...cycles.values()].filter(({ status }) => status === 'active').map(({ id }) => id);
  const wanted = word === 'next' ? 'upcoming' : 'completed';
  const nearest = new Map<string, { readonly id: string; readonly startsAt: number }>();
  for (const one of cycles.values()) {
    if (one.status !== wanted) continue;
    const known = nearest.get(one.teamId);
    const isNearer =
      !known || (wanted === 'upcoming' ? one.startsAt < known.startsAt : one.startsAt > known.startsAt);
    if (isNearer) nearest.set(one.teamId, one);
  }
  return [...nearest.values()].map(({ id }) => id);
}
const referenceOf = (name: string): ReferenceField => {
  const field = ownFields[name];
  if (field?.type !== 'reference') throw new Error(`Issues refer to nothing by ${name}.`);
  return field;
};
const parentField = referenceOf('parent');
const idOfLabel: FilterWay = { by: 'id', path: 'labels[].id', pattern: idPattern(label.id), property: 'id' };

const cycleField = referenceOf('cycle');

export const issueReferences = {
  team: referenceOf('team'),
  state: referenceOf('state'),
  assignee: referenceOf('assignee'),
  project: referenceOf('project'),
  milestone: referenceOf('milestone'),
  parent: {
    ...parentField,
    ways: [...parentField.ways, { by: 'identifier', path: 'parent.identifier', property: 'identifier' }],
  },
  cycle: {
    ...cycleField,
    ways: [
      ...cycleField.ways.filter(({ by }) => by === 'id'),
      { by: 'turn', path: cycleField.path, property: 'turn', words: relativeWords },
      ...cycleField.ways.filter(({ by }) => by !== 'id'),
    ],
  },
  label: {
    type: 'reference',
    path: idOfLabel.path,
    to: label,
    ways: [idOfLabel, { by: 'name', path: 'labels[].name', property: 'name' }],
    nullable: true,
  },
} as const satisfies Readonly<Record<string, ReferenceField>>;

const fields: FilterFields = {
  ...ownFields,
  ...issueReferences,
  identifier: {
    type: 'reference',
    path: 'identifier',
    to: issue,
    ways: [{ by: 'identifier', path: 'identifier', property: 'identifier' }],
    isSelf: true,
  },
  stateId: {
    type: 'reference',
    path: 'state.id',
    to: state,
    ways: [{ by: 'id', path: 'state.id', pattern: idPattern(state.id), property: 'id' }],
  },
};

const ownColumns = filterColumnsOf(issue);
const ranks = priorities.toReversed();
/** Fields whose values match few issues, compared with most labels. */
const ofFew = ['id', 'assignee', 'project', 'milestone', 'cycle', 'parent', 'externalId'];

const columns: FilterColumns = (directory, resolved) => {
  const own = ownColumns(directory, resolved);
  const identified: Pick<FilterColumn, 'ids'> = {
    ids: (_, values) => values.flatMap((identifier) => resolved.get(identifier) ?? []),
  };
  return {
    ...own,
    ...customColumns(directory),
    ...Object.fromEntries(ofFew.map((name) => [name, { ...own[name]!, few: true as const }])),
    identifier: { sql: 'id', few: true, ...identified },
    parent: { sql: 'parent_id', few: true, ...identified },
    cycle: { ...own.cycle!, few: true, ids: (way, names) => cyclesMeant(directory, way, names) },
    stateId: { sql: 'state_id' },
    slaDueAt: { ...own.slaDueAt!, sql: `nullif(sla_due_at, ${neverDue})` },
    // Priorities are stored with the most urgent first; filters compare urgent as greater than low.
    priority: {
      sql: 'priority',
      value: (name) => ranks.indexOf(name as (typeof priorities)[number]),
      descends: true,
    },
    label: {
      sql: 'l.label_id',
      ...namesIn(directory, label, 'name'),
      listed: (id) =>
        `SELECT issue_id AS listed_id, created_at AS listed_at FROM issue_labels WHERE workspace_id = :ws AND label_id = ${id}`,
      // A label that was just deleted may still be in the join table, but no issue shows it.
      wrap: (condition) =>
        `EXISTS (SELECT 1 FROM issue_labels AS l JOIN labels AS w ON w.workspace_id = :ws AND w.id = l.label_id
         WHERE l.workspace_id = :ws AND l.issue_id = issues.id AND w.deleted_at IS NULL AND ${condition})`,
    },
  };
};

/**
 * Rejects an identifier whose team does not exist or is hidden.
 * @throws ApiError validation_failed (not_found)
 */
function requireTeamOf({ directory, visibleTeams }: Context, identifier: string, path: string): void {
  const [key = ''] = identifier.split('-');
  const team = findTeam(directory, key);
  if (!team || (visibleTeams !== null && !visibleTeams.has(team.id)))
    throw invalidField(path, 'not_found', {
      why: `There is no issue ${identifier}, because the team does not exist.`,
      fix: 'Use the identifier of an existing issue.',
    });
}

export const issueFiltering = createFiltering({
  fields,
  added: { under: 'fields', fieldsIn: customFilterFields },
  columns,
  async find(ctx, { path, way, value }) {
    if (way.by === 'identifier') requireTeamOf(ctx, value, path);
    if (ctx.asOf !== undefined) return idAsOf(ctx, value, ctx.asOf);
    const resolved = await issueModel.find(ctx, value);
    return resolved?.deletedAt === null ? resolved.id : undefined;
  },
});

/** Returns the id of an issue that existed at the given event, even if it was deleted or purged since. */
async function idAsOf(ctx: Context, name: string, sequence: number): Promise<string | undefined> {
  const id = (await issueModel.idsOf(ctx, [name])).get(name) ?? name;
  const was = (await objectsAt(ctx, issue, [id], { sequence })).get(id);
  return was && was.deletedAt === null && isSeen(ctx, issue, was) ? id : undefined;
}

const related = (doc: string) => Type.Optional(described(nameOf(issue), doc));

/**
 * Query parameters that filter issues by relations and subscribers. They are not filter fields, because these are not part
 * of an issue, so a subscription could not evaluate them.
 */
export const relationQuery = {
  blocks: related('Issue that the listed issues block.'),
  blockedBy: related('Issue that blocks the listed issues.'),
  duplicateOf: related('Issue that the listed issues are duplicates of.'),
  hasOpenBlockers: Type.Optional(
    Type.Boolean({
      description:
        'True for issues that are blocked by an issue which is neither completed nor canceled; false for the others.',
    }),
  ),
  subscriber: Type.Optional(described(nameOf(member), 'Member who is subscribed to the listed issues.')),
};

export type RelationQuery = {
  [Name in keyof typeof relationQuery]?: Static<(typeof relationQuery)[Name]>;
};

const issuesTo = (type: string, param: string): string =>
  `id IN (SELECT r.from_id FROM relations AS r WHERE r.workspace_id = :ws AND r.issue_id = :${param} AND r.type = '${type}' AND r.deleted_at IS NULL)`;
const sqlOf = {
  blocks: issuesTo('blocks', 'blocks'),
  blockedBy: `id IN (SELECT r.issue_id FROM relations AS r WHERE r.workspace_id = :ws AND r.from_id = :blockedBy AND r.type = 'blocks' AND r.deleted_at IS NULL)`,
  duplicateOf: issuesTo('duplicate_of', 'duplicateOf'),
} as const;

/** Counts only blockers that the caller can see; deleted issues block nothing. */
const openBlocker = `EXISTS (SELECT 1 FROM relations AS r
  JOIN issues AS b ON b.workspace_id = :ws AND b.id = r.from_id
  JOIN states AS s ON s.workspace_id = :ws AND s.id = b.state_id
  WHERE r.workspace_id = :ws AND r.issue_id = issues.id AND r.type = 'blocks' AND r.deleted_at IS NULL AND b.deleted_at IS NULL
    AND s.type NOT IN ('completed', 'canceled', 'duplicate')
    AND (:seen IS NULL OR b.team_id IN (SELECT value FROM json_each(:seen))))`;

const rowOfSubscriber = (issueId: string, muted: 0 | 1): string =>
  `FROM subscribers AS s WHERE s.workspace_id = :ws AND s.member_id = :subscriber AND s.muted = ${muted}${issueId && ` AND s.issue_id = ${issueId}`}`;
/** The creator of an issue is subscribed without a row until a row says otherwise. */
const isCreatorSubscribed = (issue: string): string =>
  `${issue}.creator_id = :subscriber AND ${issue}.creator_kind = 'user' AND NOT EXISTS (SELECT 1 ${rowOfSubscriber(`${issue}.id`, 1)})`;
/** `unlikely` makes the planner start from the issues of the member instead of an index in the order of the list. */
const isSubscribed = `unlikely(id IN (SELECT s.issue_id ${rowOfSubscriber('', 0)}
  UNION ALL SELECT i.id FROM issues AS i INDEXED BY issues_creator
  WHERE i.workspace_id = :ws AND i.deleted_at IS NULL AND ${isCreatorSubscribed('i')}))`;
/** The index of creators has no deleted issues. */
const isSubscribedOrDeleted = `(id IN (SELECT s.issue_id ${rowOfSubscriber('', 0)}) OR (${isCreatorSubscribed('issues')}))`;

/** Everybody who sees an issue sees its subscribers. @throws ApiError validation_failed */
function subscriberCondition(ctx: Context, named: string, deleted: Deleted = 'exclude'): Condition {
  const id = named === 'me' ? requireMe(ctx.actor.memberId, 'subscriber') : named;
  if (!isPresent(ctx, id))
    throw invalidField('subscriber', 'not_found', {
      why: `There is no member ${named}.`,
      fix: 'Use the id of a member, or `me`.',
    });
  return { sql: deleted === 'exclude' ? isSubscribed : isSubscribedOrDeleted, params: { subscriber: id } };
}

/** @throws ApiError validation_failed (not_found) */
export async function relationConditions(
  ctx: Context,
  query: RelationQuery & { readonly deleted?: Deleted },
): Promise<Condition[]> {
  const conditions: Condition[] = [];
  for (const name of ['blocks', 'blockedBy', 'duplicateOf'] as const) {
    const requested = query[name];
    if (requested === undefined) continue;
    const other = await issueModel.find(ctx, requested);
    if (!other || other.deletedAt !== null)
      throw invalidField(name, 'not_found', {
        why: `There is no issue ${requested}.`,
        fix: 'Use the id or identifier of an existing issue.',
      });
    conditions.push({ sql: sqlOf[name], params: { [name]: other.id } });
  }
  if (query.subscriber !== undefined)
    conditions.push(subscriberCondition(ctx, query.subscriber, query.deleted));
  if (query.hasOpenBlockers !== undefined) {
    const seen = ctx.visibleTeams && JSON.stringify([...ctx.visibleTeams]);
    conditions.push({ sql: query.hasOpenBlockers ? openBlocker : `NOT ${openBlocker}`, params: { seen } });
  }
  return conditions;
}
