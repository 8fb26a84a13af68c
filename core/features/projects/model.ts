import type { Context, Directory } from '../../kernel/context.ts';
import { notFound } from '../../platform/lib/errors/errors.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { project } from './contract.ts';

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
