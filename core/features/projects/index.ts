// Projects. Archived and deleted projects are hidden from lists, but their issues keep showing them.
import type { Context, Directory } from '../../kernel/context.ts';
import { notFound, invalidField } from '../../platform/lib/errors/errors.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { project } from './contract.ts';
import { archiving, archivedQuery, wasArchivedSo, whereArchived } from '../../kernel/resource/archived.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { equal, idsOf } from '../../kernel/checks.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ana, ben, dayAfter, sampleProject, timeAfter } from '../../kernel/samples.ts';

export const projectModel = modelOf(project, {
  shows: {
    members: ({ members }, { directory }) => members.flatMap((id) => toMemberResponse(directory, id)),
  },
  events(before, after) {
    if (!before) return ['project.created'];
    if (before.deletedAt !== after.deletedAt)
      return [after.deletedAt === null ? 'project.restored' : 'project.deleted'];
    if ((before.archivedAt === null) === (after.archivedAt === null)) return ['project.updated'];
    return [after.archivedAt === null ? 'project.unarchived' : 'project.archived'];
  },
});

/** Parts of a deleted project are not found until it is restored. @throws ApiError not_found */
export function requireProject({ directory }: Context, { projectId }: { readonly projectId: string }): void {
  if (directory.projects.get(projectId)?.removed !== false) throw notFound();
}

function toMemberResponse({ members }: Directory, id: string): { id: string; name: string }[] {
  const member = members.get(id);
  return member ? [{ id, name: member.name }] : [];
}

const resource = defineResource(project, projectModel, {
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

export const projects = defineFeature({
  name: 'projects',
  resources: [resource],
  samples: ({ nowMs }) => ({
    objects: {
      project: {
        ...sampleProject,
        description: 'No data is lost when the disk is full.',
        status: 'started',
        health: 'on_track',
        lead: ana,
        members: [ana, ben],
        startDate: dayAfter(nowMs, -20),
        targetDate: dayAfter(nowMs, 40),
        icon: '📝',
        color: '#0e8a16',
        archivedAt: null,
      } satisfies Partial<EntityResponse<typeof project>>,
    },
    moments: {
      'project.updated': { now: { health: 'at_risk' }, previous: { health: 'on_track' } },
      'project.archived': { now: { archivedAt: timeAfter(nowMs, 0) }, previous: { archivedAt: null } },
      'project.unarchived': { previous: { archivedAt: timeAfter(nowMs, -2) } },
      'project.deleted': { now: { deletedAt: timeAfter(nowMs, 0) }, previous: { deletedAt: null } },
      'project.restored': { previous: { deletedAt: timeAfter(nowMs, -2) } },
    },
  }),
  facts: {
    project: () => [equal('members', 'members_json', ({ members }) => idsOf(members))],
  },
});
