// Operations on boards and views read and change issues as well: they need the scopes of issues beside their own, and hold whoever has
// those in part to that part.
import type { Context } from '../../context.ts';
import type { AlsoNeeded } from '../../http/route.ts';
import { ApiError } from '../../lib/errors.ts';
import { teamsSeen } from '../../rights/rights.ts';
import type { Issue } from './kind.ts';

const [reading, writing] = ['issues:read', 'issues:write'];

const needs = (scope: string): AlsoNeeded => ({
  words: scope,
  scopes: async ({ narrowed }) => (narrowed?.has(scope) ? [] : [scope]),
});

export const readingIssues = needs(reading);
export const writingIssues = needs(writing);

/** The context of an operation that is not one of issues, seeing the issues that the caller may read. */
export function seeingIssues(ctx: Context): Context {
  return { ...ctx, visibleTeams: teamsSeen(reading, ctx, ctx.directory) };
}

/** Holds who may change issues in part to the teams and fields of that part. @throws ApiError insufficient_scope */
export function requireMayChange(ctx: Context, { teamId }: Issue, fields: readonly string[]): void {
  const narrowing = ctx.narrowed?.get(writing);
  if (ctx.scopes.has(writing) || !narrowing) return;
  const key = ctx.directory.teams.get(teamId)?.key ?? '';
  if (narrowing.teams !== null && !narrowing.teams.includes(key))
    throw new ApiError('insufficient_scope', `${writing} is not held in the team ${key}.`);
  const outside = narrowing.fields && fields.find((name) => !narrowing.fields!.includes(name));
  if (outside != null)
    throw new ApiError(
      'insufficient_scope',
      `${writing} is narrowed to the fields ${narrowing.fields!.join(', ')}; this writes ${outside}.`,
    );
}
