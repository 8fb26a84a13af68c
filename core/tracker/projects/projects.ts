// Projects. One that is archived leaves the lists, and is otherwise as it was: what belongs to it still says so.
import { Type } from 'typebox';
import { getEntity, updated } from '../../changes/operations.ts';
import { schemasOf } from '../../contract/schemas.ts';
import type { Context } from '../../context.ts';
import { defineRoute } from '../../http/route.ts';
import { invalidField } from '../../lib/errors.ts';
import { Closed, enumeration, idOf } from '../../lib/schema.ts';
import { defineResource } from '../../resource/define.ts';
import type { Condition } from '../../store/page.ts';
import { readingIssues } from '../issues/seen.ts';
import { project } from './contract.ts';
import { projectKind } from './kind.ts';
import { ProjectProgress, progressOf } from './progress.ts';

type Archived = 'exclude' | 'include' | 'only';
const whereArchived: Readonly<Record<Archived, readonly Condition[]>> = {
  exclude: [{ sql: 'archived_at IS NULL', params: {} }],
  include: [],
  only: [{ sql: 'archived_at IS NOT NULL', params: {} }],
};

const params = Closed({ id: idOf(project.id) });

const archiving = (verb: 'archive' | 'unarchive', summary: string) =>
  defineRoute({
    method: 'POST',
    path: `/api/v1/projects/{id}/${verb}`,
    name: `projects.${verb}`,
    summary,
    scope: 'projects:write',
    writes: ['archivedAt'],
    limit: 'write',
    params,
    responses: { 200: schemasOf(project).shown },
    async write(ctx, { params, ifMatch }) {
      const found = await getEntity(ctx, projectKind, params.id);
      const isArchived = verb === 'archive';
      const already = (found.archivedAt !== null) === isArchived;
      const patch = already ? {} : { archivedAt: isArchived ? ctx.nowMs() : null };
      return updated(ctx, projectKind, found, patch, ifMatch);
    },
  });

export const projects = defineResource(project, projectKind, {
  query: {
    archived: Type.Optional({
      ...enumeration(
        'Archived',
        ['exclude', 'include', 'only'],
        'Whether archived ones are listed as well, or alone.',
      ),
      default: 'exclude',
    }),
  },
  where: (_ctx, { archived = 'exclude' }) => whereArchived[archived as Archived],
  wasAmong: ({ archived = 'exclude' }, { archivedAt }) =>
    archived === 'include' || (archivedAt !== null) === (archived === 'only'),
  check(ctx, { startDate, targetDate, members }, before) {
    if (startDate !== null && targetDate !== null && targetDate < startDate)
      throw invalidField('targetDate', 'too_small', {
        why: 'The target date lies before the start date.',
        fix: 'Give a later targetDate, or an earlier startDate.',
      });
    if (members !== before?.members) requireMembers(ctx, members, before?.members ?? []);
  },
  routes: [
    archiving('archive', 'Archive a project: lists leave it out'),
    archiving('unarchive', 'Take a project out of the archive'),
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
