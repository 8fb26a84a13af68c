// Projects. One that is archived or deleted leaves the lists, and issues that belong to it still say so.
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { defineRoute } from '../../http/route.ts';
import { invalidField } from '../../lib/errors.ts';
import { Closed, idOf } from '../../lib/schema.ts';
import { archiving, archivedQuery, wasArchivedSo, whereArchived } from '../../resource/archived.ts';
import { defineResource } from '../../resource/define.ts';
import { readingIssues } from '../issues/seen.ts';
import { project } from './contract.ts';
import { projectKind } from './kind.ts';
import { ProjectProgress, progressOf } from './progress.ts';

const params = Closed({ id: idOf(project.id) });

export const projects = defineResource(project, projectKind, {
  query: archivedQuery,
  where: (_ctx, query) => whereArchived(query),
  wasAmong: wasArchivedSo,
  check(ctx, { startDate, targetDate, members, deletedAt }, before) {
    if (startDate !== null && targetDate !== null && targetDate < startDate)
      throw invalidField('targetDate', 'too_small', {
        why: 'The target date lies before the start date.',
        fix: 'Give a later targetDate, or an earlier startDate.',
      });
    // A project that is restored has the members that it had.
    const had = deletedAt === null ? (before?.members ?? []) : members;
    if (members !== before?.members) requireMembers(ctx, members, had);
  },
  routes: [
    archiving(project, projectKind, 'archive', { summary: 'Archive a project: lists leave it out' }),
    archiving(project, projectKind, 'unarchive', { summary: 'Take a project out of the archive' }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/projects/{id}/progress',
      name: 'projects.progress',
      summary: 'Count what of a project is done',
      description:
        'Its issues and those of each milestone by what their states mean, as they stand now, of the teams whose issues the caller reads. It looks at every issue of the project.',
      scope: 'projects:read',
      also: readingIssues,
      limit: 'search',
      params,
      query: Closed({
        since: Type.Optional(
          Type.String({
            maxLength: 40,
            description:
              'A day of the last year, as YYYY-MM-DD: each from it on is told as well, which a burn-up draws.',
          }),
        ),
      }),
      responses: { 200: ProjectProgress },
      errors: ['budget_exceeded'],
      read: (ctx, { params, query }) => progressOf(ctx, params.id, query.since),
    }),
  ],
});

/** Who was removed since stays where they were. */
function requireMembers({ directory }: Context, ids: readonly string[], had: readonly string[]): void {
  for (const [index, id] of ids.entries()) {
    const found = directory.members.get(id);
    if (!found || (found.removed && !had.includes(id)))
      throw invalidField(`members.${index}`, 'not_found', { why: `There is no member ${id}.` });
  }
}
