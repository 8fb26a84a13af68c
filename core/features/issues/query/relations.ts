// Query parameters that filter issues by relations. They are not filter fields, because relations are not
// part of an issue, so a subscription could not evaluate them.
import { Type } from 'typebox';
import type { Context } from '../../../kernel/context.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { nameOf, described } from '../../../platform/lib/schema.ts';
import type { Condition } from '../../../platform/store/page.ts';
import { issue } from '../contract.ts';
import { issueModel } from '../model.ts';

const related = (doc: string) => Type.Optional(described(nameOf(issue), doc));

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
};

export interface RelationQuery {
  blocks?: string;
  blockedBy?: string;
  duplicateOf?: string;
  hasOpenBlockers?: boolean;
}

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

/** @throws ApiError validation_failed (not_found) */
export async function relationConditions(ctx: Context, query: RelationQuery): Promise<Condition[]> {
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
  if (query.hasOpenBlockers !== undefined) {
    const seen = ctx.visibleTeams && JSON.stringify([...ctx.visibleTeams]);
    conditions.push({ sql: query.hasOpenBlockers ? openBlocker : `NOT ${openBlocker}`, params: { seen } });
  }
  return conditions;
}
