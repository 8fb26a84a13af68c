// What the role of a member lets them do beyond the scopes of a key. Scopes say what a key may ask for; roles say who may change whom,
// so that nobody rises by a request.
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { requirePerson } from '../../rights/person.ts';
import { rightsOfRole } from '../../rights/roles.ts';
import { holderOf } from '../../rights/words.ts';
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

/** Of the scopes that are missing, so many are named. */
const namedMax = 5;

/** What decides on a seat: its role and teams, the address by which it is taken, and whether it was. */
type SeatTerms = Pick<Member, 'role' | 'teams' | 'email' | 'joinedAt'>;

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
 * @throws ApiError forbidden, insufficient_scope
 */
export async function requireMayChange(
  ctx: Context,
  before: Member | null,
  after: SeatTerms | null,
): Promise<void> {
  requirePerson(ctx, 'change members');
  const caller = await callingMember(ctx);
  if (!caller) throw new ApiError('forbidden', 'Only a member can change members.');
  if (caller.id === before?.id && after && isOfSameRights(before, after)) {
    // A seat that nobody has taken is taken by its address, so that the key alone does not decide on it.
    if (before.joinedAt === null) requireSeatHeld(ctx, before, after);
    return;
  }
  if (!isAdmin(caller))
    throw new ApiError(
      'forbidden',
      'You may change your own name and email. The rest takes an admin or an owner.',
    );
  const isHigher = (member: Pick<Member, 'role'> | null) =>
    member !== null && roles.indexOf(member.role) > roles.indexOf(caller.role);
  if (isHigher(before) || isHigher(after))
    throw new ApiError('forbidden', 'Only an owner may add, change or remove an owner.');
  requireSeatHeld(ctx, before, after);
}

/**
 * Whoever has the seat may make a key with all scopes of its role, and so it takes a credential with all of these to give it: to add or
 * invite a member, to give a higher role or another address, and to show a guest more teams. @throws ApiError insufficient_scope
 */
function requireSeatHeld(ctx: Context, before: SeatTerms | null, after: SeatTerms | null): void {
  if (after === null) return;
  const isRaised = before === null || roles.indexOf(after.role) > roles.indexOf(before.role);
  const seesMore = after.teams.some((id) => !before?.teams.includes(id));
  const isElsewhere = after.email !== null && after.email !== before?.email;
  if (!isRaised && !seesMore && !isElsewhere) return;
  const { scopes, narrowed } = rightsOfRole(after.role, []);
  // Of the seat's own member, narrowed scopes are narrowed as the role has them.
  const isHeld = (scope: string): boolean => ctx.scopes.has(scope) || (ctx.narrowed?.has(scope) ?? false);
  const missing = [...scopes, ...(narrowed?.keys() ?? [])].filter((scope) => !isHeld(scope)).sort();
  const [first] = missing;
  if (first === undefined) return;
  const more = missing.length > namedMax ? ` and ${missing.length - namedMax} more` : '';
  throw new ApiError(
    'insufficient_scope',
    `This hands out a seat of the role ${after.role}, which takes every scope of that role: ${holderOf(ctx, first)} does not have ${missing.slice(0, namedMax).join(', ')}${more}. Use a key with all of them.`,
  );
}
