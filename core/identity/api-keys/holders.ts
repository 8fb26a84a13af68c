// Permission to create, roll and revoke keys: members for themselves, admins also for others, and only owners
// for owners. A key has the rights of its member, so a key for a member with a higher role would raise the
// rights of the caller.
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { requirePerson } from '../../rights/person.ts';
import { holderOf } from '../../rights/words.ts';
import { apiKeyModel } from './kind.ts';
import { memberModel } from '../members/kind.ts';
import { callingMember, isAdmin } from '../members/roles.ts';

/** @throws ApiError forbidden */
export async function requireHolder(ctx: Context, memberId: string): Promise<void> {
  requirePerson(ctx, 'create, roll or revoke keys');
  const { memberId: callerId } = ctx.authority.actor;
  if (callerId === undefined)
    throw new ApiError(
      'forbidden',
      'Only a member can create, roll or revoke keys. Use the API key or token of a member.',
    );
  if (callerId === memberId) return;
  const [caller, holder] = await Promise.all([callingMember(ctx), memberModel.find(ctx, memberId)]);
  if (!isAdmin(caller))
    throw new ApiError(
      'forbidden',
      'Only an admin or an owner can create, roll or revoke the keys of another member. Ask one of them.',
    );
  if (holder?.role === 'owner' && caller?.role !== 'owner')
    throw new ApiError(
      'forbidden',
      'Only an owner can create, roll or revoke the keys of an owner. Ask an owner.',
    );
}

/**
 * A rolled key may only revoke or roll itself: it may have been rolled because it leaked, and must not create
 * keys that outlive it.
 * @param keyId key to revoke or roll; absent for a new key
 * @throws ApiError forbidden
 */
export async function requireNotRolled(ctx: Context, keyId?: string): Promise<void> {
  const { kind, id } = ctx.authority.actor;
  if (kind !== 'api_key' || id === keyId) return;
  const caller = await apiKeyModel.find(ctx, id);
  if (caller && caller.replacedBy !== null)
    throw new ApiError(
      'forbidden',
      `This key was rolled and cannot create, roll or revoke other keys. Use its successor ${caller.replacedBy}.`,
    );
}

/** @throws ApiError forbidden for a scope that the caller does not have */
export function requireCallerScopes(ctx: Context, scopes: readonly string[]): void {
  // The role of the member narrows the scope of the new key in the same way.
  const missing = scopes.filter((scope) => !ctx.scopes.has(scope) && !ctx.narrowed?.has(scope));
  const [first] = missing;
  if (first !== undefined)
    throw new ApiError(
      'forbidden',
      `A key cannot have more scopes than its creator: ${holderOf(ctx, first)} does not have ${missing.join(', ')}. Leave these scopes out.`,
    );
}
