// Access to issues from operations on boards and views: these need the scopes of issues in addition to their
// own, and respect narrowed scopes.
import type { Context } from '../../kernel/context.ts';
import type { AlsoNeeded } from '../../kernel/http/route.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { teamsSeen } from '../../kernel/rights/rights.ts';
import type { Issue } from './model.ts';

const [reading, writing] = ['issues:read', 'issues:write'];

const needs = (scope: string): AlsoNeeded => ({
  words: `\`${scope}\``,
  scopes: async ({ narrowed }) => (narrowed?.has(scope) ? [] : [scope]),
});

export const readingIssues = needs(reading);
export const writingIssues = needs(writing);

/** Returns a context whose `visibleTeams` are the teams in which the caller may read issues. */
export function withIssueVisibility(ctx: Context): Context {
  return { ...ctx, visibleTeams: teamsSeen(reading, ctx, ctx.directory) };
}

/** Restricts a caller with a narrowed scope to its teams and fields. @throws ApiError insufficient_scope */
export function requireMayChange(ctx: Context, { teamId }: Issue, fields: readonly string[]): void {
  const narrowing = ctx.narrowed?.get(writing);
  if (ctx.scopes.has(writing) || !narrowing) return;
  const key = ctx.directory.teams.get(teamId)?.key ?? '';
  if (narrowing.teams !== null && !narrowing.teams.includes(key))
    throw new ApiError(
      'insufficient_scope',
      `The scope ${writing} is not granted in the team ${key}. Ask an admin for the whole scope.`,
    );
  const outside = narrowing.fields && fields.find((name) => !narrowing.fields!.includes(name));
  if (outside != null)
    throw new ApiError(
      'insufficient_scope',
      `The scope ${writing} is narrowed to the fields ${narrowing.fields!.join(', ')}; this request writes ${outside}. Leave the field out, or ask an admin for the whole scope.`,
    );
}
