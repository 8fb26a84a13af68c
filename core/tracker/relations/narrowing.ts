// Lists of issues narrowed by their relations. These are parameters and no fields of filters, because what an issue is related to does
// not stand on it, so that no subscription could judge it.
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { nameOf, described } from '../../lib/schema.ts';
import type { Condition } from '../../store/page.ts';
import { issue } from '../issues/contract.ts';
import { issueKind } from '../issues/kind.ts';

const related = (doc: string) => Type.Optional(described(nameOf(issue), doc));

export const relationQuery = {
  blocks: related('Only issues that block this one:'),
  blockedBy: related('Only issues that this one blocks:'),
  duplicateOf: related('Only duplicates of this one:'),
  hasOpenBlockers: Type.Optional(
    Type.Boolean({ description: 'Whether an issue blocks them that is neither completed nor canceled.' }),
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

/** Of those that the caller sees; deleted ones block nothing. */
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
    const given = query[name];
    if (given === undefined) continue;
    const found = await issueKind.find(ctx, given);
    if (!found || found.deletedAt !== null)
      throw invalidField(name, 'not_found', { why: `There is no issue ${given}.` });
    conditions.push({ sql: sqlOf[name], params: { [name]: found.id } });
  }
  if (query.hasOpenBlockers !== undefined) {
    const seen = ctx.visibleTeams && JSON.stringify([...ctx.visibleTeams]);
    conditions.push({ sql: query.hasOpenBlockers ? openBlocker : `NOT ${openBlocker}`, params: { seen } });
  }
  return conditions;
}
