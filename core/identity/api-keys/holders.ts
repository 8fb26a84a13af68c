// Whose keys a caller may make, roll and revoke: a member their own, an admin also those of others, and only an owner those of owners.
// A key acts for its member, so whoever could make one for a higher role would have that role.
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { requirePerson } from '../../rights/person.ts';
import { holderOf } from '../../rights/words.ts';
import { apiKeyKind } from './kind.ts';
import { memberKind } from '../members/kind.ts';
import { callingMember, isAdmin } from '../members/roles.ts';

/** @throws ApiError forbidden */
export async function requireHolder(ctx: Context, memberId: string): Promise<void> {
  requirePerson(ctx, 'make, roll or end keys');
  const { memberId: callerId } = ctx.authority.actor;
  if (callerId === undefined) throw new ApiError('forbidden', 'Only a member can do this.');
  if (callerId === memberId) return;
  const [caller, holder] = await Promise.all([callingMember(ctx), memberKind.find(ctx, memberId)]);
  if (!isAdmin(caller))
    throw new ApiError('forbidden', 'Only an admin or an owner can do this with the keys of another member.');
  if (holder?.role === 'owner' && caller?.role !== 'owner')
    throw new ApiError('forbidden', 'Only an owner can do this with the keys of an owner.');
}

/**
 * A key that was rolled is on its way out, and may be rolled because somebody else has it: whoever comes with it ends it and touches no
 * other key, or it would live on in those that it makes. @param keyId the key that is to end or be replaced; none for one to be made
 * @throws ApiError forbidden
 */
export async function requireNotRolled(ctx: Context, keyId?: string): Promise<void> {
  const { kind, id } = ctx.authority.actor;
  if (kind !== 'api_key' || id === keyId) return;
  const caller = await apiKeyKind.find(ctx, id);
  if (caller && caller.replacedBy !== null)
    throw new ApiError(
      'forbidden',
      `This key was rolled: it makes, rolls and revokes no other keys. Use its successor ${caller.replacedBy}.`,
    );
}

/** @throws ApiError forbidden when a scope is asked that the caller lacks */
export function requireHeld(ctx: Context, scopes: readonly string[]): void {
  // What the role holds in part the key will hold so as well.
  const missing = scopes.filter((scope) => !ctx.scopes.has(scope) && !ctx.narrowed?.has(scope));
  const [first] = missing;
  if (first !== undefined)
    throw new ApiError(
      'forbidden',
      `A key cannot have more than its minter, and ${holderOf(ctx, first)} does not have ${missing.join(', ')}. Leave that out.`,
    );
}
