// Names of members: others trust them where they read who did something.
import type { Directory } from '../../context.ts';
import { faultOfShownName, lookOf, shownNameMax } from '../../lib/shown-name.ts';
import { isAdmin } from './roles.ts';

interface NameProblem {
  readonly code: 'invalid_format' | 'already_exists';
  readonly why: string;
  readonly fix: string;
}

/** @param others members whose names are not to be had; null where an admin gives the name */
export function nameProblem(
  { id, name }: { readonly id: string; readonly name: string },
  others: Directory['members'] | null,
): NameProblem | null {
  const fault = faultOfShownName(name);
  if (fault !== null)
    return {
      code: 'invalid_format',
      why: `This name ${fault}.`,
      fix: `Give a name of 1 to ${shownNameMax} visible characters.`,
    };
  if (others === null) return null;
  const look = lookOf(name);
  if (look === '') return null;
  for (const [other, member] of others)
    if (other !== id && !member.removed && isAdmin(member) && lookOf(member.name) === look)
      return {
        code: 'already_exists',
        why: 'An admin of this workspace has this name.',
        fix: 'Add something that tells you apart, such as an initial.',
      };
  return null;
}
