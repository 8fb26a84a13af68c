// Projects. Archived and deleted projects are hidden from lists, but their issues keep showing them.
import { Type } from 'typebox';
import type { Context } from '../../kernel/context.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { Closed, idOf } from '../../platform/lib/schema.ts';
import { archiving, archivedQuery, wasArchivedSo, whereArchived } from '../../kernel/resource/archived.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { readingIssues } from '../issues/seen.ts';
import { project } from './contract.ts';
import { projectModel } from './model.ts';
import { ProjectProgress, progressOf } from './progress.ts';

const params = Closed({ id: idOf(project.id) });

export const projects = defineResource(project, projectModel, {
  query: archivedQuery,
  where: (_ctx, query) => whereArchived(query),
  wasAmong: wasArchivedSo,
  check(ctx, { startDate, targetDate, members, deletedAt }, before) {
    if (startDate !== null && targetDate !== null && targetDate < startDate)
      throw invalidField('targetDate', 'too_small', {
        why: 'The target date is before the start date.',
        fix: 'Give a later targetDate, or an earlier startDate.',
      });
    // A restored project may keep members who were removed since.
    const had = deletedAt === null ? (before?.members ?? []) : members;
    if (members !== before?.members) requireMembers(ctx, members, had);
  },
  routes: [
    archiving(project, projectModel, 'archive', { summary: 'Archive a project, which hides it from lists' }),
    archiving(project, projectModel, 'unarchive', { summary: 'Unarchive a project' }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/projects/{id}/progress',
      name: 'projects.progress',
      summary: 'Get the progress of a project',
      description:
        'Counts the issues of the project and of each milestone by the type of their current state, in the teams whose issues the caller can read. Reads every issue of the project.',
      scope: 'projects:read',
      also: readingIssues,
      limit: 'search',
      params,
      query: Closed({
        since: Type.Optional(
          Type.String({
            maxLength: 40,
            description:
              'First day of the daily counts for a burn-up chart, YYYY-MM-DD, within the last year; default: no daily counts.',
          }),
        ),
      }),
      responses: { 200: ProjectProgress },
      errors: ['budget_exceeded'],
      read: (ctx, { params, query }) => progressOf(ctx, params.id, query.since),
    }),
  ],
});

/** A removed member is valid if the project already refers to them. */
function requireMembers({ directory }: Context, ids: readonly string[], had: readonly string[]): void {
  for (const [index, id] of ids.entries()) {
    const member = directory.members.get(id);
    if (!member || (member.removed && !had.includes(id)))
      throw invalidField(`members.${index}`, 'not_found', {
        why: `There is no member ${id}.`,
        fix: 'Use the id of a member.',
      });
  }
}
