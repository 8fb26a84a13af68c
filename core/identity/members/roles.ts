// What the role of a member lets them do beyond the scopes of a key. Scopes say what a key may ask for; roles say who may change whom,
// so that nobody rises by a request.
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { requirePerson } from '../../rights/person.ts';
import { roles } from './contract.ts';
import { memberKind, type Member } from './kind.ts';
import { sameValue } from '../../changes/change.ts';

/** Whether a key may act for them: they are there, and were not removed. */
export function isPresent({ directory }: Pick<Context, 'directory'>, memberId: string): boolean {
  return directory.members.get(memberId)?.removed === false;
}

function isOfSameRights(a: Pick<Member, 'role' | 'teams'>, b: typeof a): boolean {
  return a.role === b.role && sameValue(a.teams, b.teams);
}

type Ranked = Pick<Member, 'role'> | undefined;

/** The member who holds the authority. Nobody stands behind a plugin, whoever installed it. */
export async function callingMember(ctx: Context): Promise<Member | undefined> {
  const { kind, memberId } = ctx.authority.actor;
  return kind === 'plugin' || memberId === undefined ? undefined : memberKind.find(ctx, memberId);
}

export function isAdmin(member: Ranked): boolean {
  return member?.role === 'owner' || member?.role === 'admin';
}

/**
 * Members change their own name and address. All else takes an admin, who is of no lower role than the member is or comes to be.
 * @param before null for a member who is added, @param after null for one who is removed
 * @throws ApiError forbidden
 */
export async function requireMayChange(
  ctx: Context,
  before: Member | null,
  after: Pick<Member, 'role' | 'teams'> | null,
): Promise<void> {
  requirePerson(ctx, 'change members');
  const caller = await callingMember(ctx);
  if (!caller) throw new ApiError('forbidden', 'Only a member can change members.');
  if (caller.id === before?.id && after && isOfSameRights(before, after)) return;
  if (!isAdmin(caller))
    throw new ApiError(
      'forbidden',
      'You may change your own name and email. The rest takes an admin or an owner.',
    );
  const isHigher = (member: Pick<Member, 'role'> | null) =>
    member !== null && roles.indexOf(member.role) > roles.indexOf(caller.role);
  if (isHigher(before) || isHigher(after))
    throw new ApiError('forbidden', 'Only an owner may add, change or remove an owner.');
}
