// Rules for member names, which identify the author of every change.
import type { Directory } from '../../../kernel/context.ts';
import { displayNameFault, lookOf, displayNameMax } from '../../../platform/lib/display-name.ts';
import { isAdmin } from './roles.ts';

interface NameProblem {
  readonly code: 'invalid_format' | 'already_exists';
  readonly why: string;
  readonly fix: string;
}

/**
 * Returns null for an allowed name.
 * @param others members whose names must differ if they are admins; null if an admin sets the name
 */
export function nameProblem(
  { id, name }: { readonly id: string; readonly name: string },
  others: Directory['members'] | null,
): NameProblem | null {
  const fault = displayNameFault(name);
  if (fault !== null)
    return {
      code: 'invalid_format',
      why: `This name ${fault}.`,
      fix: `Give a name of 1 to ${displayNameMax} visible characters.`,
    };
  if (others === null) return null;
  const look = lookOf(name);
  if (look === '') return null;
  for (const [other, member] of others)
    if (other !== id && !member.removed && isAdmin(member) && lookOf(member.name) === look)
      return {
        code: 'already_exists',
        why: 'An admin of this workspace has this name.',
        fix: 'Add something that distinguishes you, such as an initial.',
      };
  return null;
}
