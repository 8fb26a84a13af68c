// Projects. Archived and deleted projects are hidden from lists, but their issues keep showing them.
import type { Context } from '../../kernel/context.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { archiving, archivedQuery, wasArchivedSo, whereArchived } from '../../kernel/resource/archived.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { project } from './contract.ts';
import { projectModel } from './model.ts';

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
