// Role and name checks in addition to scopes: roles decide which members a caller may change, so that nobody
// can raise their own rights.
import type { Context, Directory } from '../../kernel/context.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { requirePerson } from '../../kernel/rights/rights.ts';
import { rightsOfRole } from '../../kernel/rights/roles.ts';
import { holderOf } from '../../kernel/rights/table.ts';
import { roles } from './contract.ts';
import { memberModel, type Member } from './model.ts';
import { sameValue } from '../../kernel/changes/change.ts';
import { displayNameFault, lookOf, displayNameMax } from '../../platform/lib/display-name.ts';

/** Returns true for an existing member who was not removed. */
export function isPresent({ directory }: { readonly directory: Directory }, memberId: string): boolean {
  return directory.members.get(memberId)?.removed === false;
}

function isOfSameRights(a: MembershipTerms, b: MembershipTerms): boolean {
  return a.role === b.role && sameValue(a.teams, b.teams);
}

/** Maximum number of missing scopes that an error lists. */
const listedMax = 5;

/** Fields that decide the rights of a member, and who can join as the member. */
interface MembershipTerms {
  readonly role: Member['role'];
  readonly teams: Member['teams'];
  readonly email: Member['email'];
  readonly joinedAt: Member['joinedAt'];
}

interface Ranked {
  readonly role: Member['role'];
}

/**
 * Returns the member whose rights the request uses; undefined for a plugin, even if a member installed it.
 */
export async function callingMember(ctx: Context): Promise<Member | undefined> {
  const { kind, memberId } = ctx.authority.actor;
  return kind === 'plugin' || memberId === undefined ? undefined : memberModel.find(ctx, memberId);
}

export function isAdmin(member: Ranked | undefined): boolean {
  return member?.role === 'owner' || member?.role === 'admin';
}

/**
 * Members may change their own name and address. All other changes require an admin whose role is at least
 * the old and the new role of the member.
 * @param before null for a new member
 * @param after null for a removal
 * @throws ApiError forbidden, insufficient_scope
 */
export async function requireMayChange(
  ctx: Context,
  before: Member | null,
  after: MembershipTerms | null,
): Promise<void> {
  requirePerson(ctx, 'change members');
  const caller = await callingMember(ctx);
  if (!caller)
    throw new ApiError(
      'forbidden',
      'Only a member can change members. Use the API key or token of a member.',
    );
  if (caller.id === before?.id && after && isOfSameRights(before, after)) {
    // A new address decides who can join as a member who has not joined yet, so the scopes of the role are
    // required.
    if (before.joinedAt === null) requireRoleScopes(ctx, before, after);
    return;
  }
  if (!isAdmin(caller))
    throw new ApiError(
      'forbidden',
      'You can change only your own name and email. Ask an admin or an owner for other changes.',
    );
  const isHigher = (member: Ranked | null) =>
    member !== null && roles.indexOf(member.role) > roles.indexOf(caller.role);
  if (isHigher(before) || isHigher(after))
    throw new ApiError('forbidden', 'Only an owner can add, change or remove an owner. Ask an owner.');
  requireRoleScopes(ctx, before, after);
}

/**
 * A person with the membership of a member can create keys with all scopes of the role. So a credential needs all
 * these scopes to add or invite a member, to give a higher role or another address, and to give a guest more
 * teams.
 * @throws ApiError insufficient_scope
 */
function requireRoleScopes(
  ctx: Context,
  before: MembershipTerms | null,
  after: MembershipTerms | null,
): void {
  if (after === null) return;
  const isRaised = before === null || roles.indexOf(after.role) > roles.indexOf(before.role);
  const seesMore = after.teams.some((id) => !before?.teams.includes(id));
  const isElsewhere = after.email !== null && after.email !== before?.email;
  if (!isRaised && !seesMore && !isElsewhere) return;
  const { scopes, narrowed } = rightsOfRole(after.role, []);
  // Scopes that the caller has only narrowed count, because the role narrows them for the member in the same
  // way.
  const hasScope = (scope: string): boolean => ctx.scopes.has(scope) || (ctx.narrowed?.has(scope) ?? false);
  const missing = [...scopes, ...(narrowed?.keys() ?? [])].filter((scope) => !hasScope(scope)).sort();
  const [first] = missing;
  if (first === undefined) return;
  const more = missing.length > listedMax ? ` and ${missing.length - listedMax} more` : '';
  throw new ApiError(
    'insufficient_scope',
    `This change gives the rights of the role ${after.role} and needs every scope of that role: ${holderOf(ctx, first)} does not have ${missing.slice(0, listedMax).join(', ')}${more}. Use a key with all of them.`,
  );
}

interface NameProblem {
  readonly code: 'invalid_format' | 'already_exists';
  readonly why: string;
  readonly fix: string;
}

/**
 * Checks the name of a member, which identifies the author of every change.
 * @param others members whose names must differ if they are admins; null if an admin sets the name
 * @returns null for an allowed name
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
