// How projects are stored, shown and announced.
import type { Directory } from '../../context.ts';
import { kindOf } from '../../resource/kind.ts';
import { project } from './contract.ts';

export const projectKind = kindOf(project, {
  shows: {
    members: ({ members }, { directory }) => members.flatMap((id) => namedMember(directory, id)),
  },
  events(before, after) {
    if (!before) return ['project.created'];
    if ((before.archivedAt === null) === (after.archivedAt === null)) return ['project.updated'];
    return [after.archivedAt === null ? 'project.unarchived' : 'project.archived'];
  },
});

function namedMember({ members }: Directory, id: string): { id: string; name: string }[] {
  const found = members.get(id);
  return found ? [{ id, name: found.name }] : [];
}
