// Delegated rights: keys, invitation links and other objects that a member or a key created for others. They
// end when the member loses a role or is removed, or the key is revoked. The caller commits the result
// together with that change. docs/decisions/0076.
import type { RevocationDeps, RevocationEffects, RightsLoss } from '../../kernel/changes/delegation.ts';
import type { Context } from '../../kernel/context.ts';
import type { Role } from '../../kernel/rights/roles.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op } from '../../platform/store/store.ts';
import { roles } from './contract.ts';
import { withdrawHandedOp, withdrawInvitedWithOp } from './invitations.ts';

const stillMay = tenantStatement(
  'members.still_may',
  `SELECT 1 FROM members AS m WHERE m.workspace_id = :ws AND m.id = :id AND (:role IS NULL OR m.role = :role) AND m.deleted_at IS NULL
     AND (:key IS NULL OR EXISTS (SELECT 1 FROM api_keys AS k WHERE k.workspace_id = :ws AND k.id = :key AND k.revoked_at IS NULL))`,
);

/** Creator of an object: the member, and the API key of the request, null for none. */
export interface Maker {
  readonly memberId: string | null;
  readonly keyId: string | null;
}

/** Returns the member and the key whose rights the caller's new keys and invitations depend on. */
export function makerOf({ authority: { actor } }: Context): Maker {
  const { kind, id, memberId } = actor;
  return { memberId: memberId ?? null, keyId: kind === 'api_key' ? id : null };
}

/** Returns an operation that fails if the caller's member or key has lost its rights or role meanwhile. */
export function stillMayOp(ctx: Context): Op {
  const { memberId, keyId } = makerOf(ctx);
  const values = { id: memberId, role: ctx.membership?.role ?? null, key: keyId };
  return tenantOp(ctx.scope, stillMay, values, { expectRows: 1 });
}

/** Returns the roles that a member can give to others: any for an owner, any except owner for an admin. */
export function mayHandOut(role: Role | null): readonly Role[] {
  if (role === 'owner') return roles;
  return role === 'admin' ? roles.filter((one) => one !== 'owner') : [];
}

/**
 * Ends the objects that a member created for others and may no longer create with the new role, or that were
 * created with a key.
 * @param keyIds keys that the caller ends itself
 */
export async function endDelegated(
  deps: RevocationDeps,
  { member, name, keyIds }: RightsLoss,
): Promise<RevocationEffects> {
  const ids = [...keyIds];
  const ended: RevocationEffects[] = [];
  for (const { afterLoss } of deps.delegations) {
    const effects = await afterLoss(deps, { member, name, keyIds: ids });
    ids.push(...(effects.keyIds ?? []));
    ended.push(effects);
  }
  const links = member ? [withdrawHandedOp(deps.scope, member.id, mayHandOut(member.role))] : [];
  return {
    changes: ended.flatMap(({ changes }) => changes),
    ops: [...ended.flatMap(({ ops }) => ops), ...links, withdrawInvitedWithOp(deps.scope, ids)],
  };
}

/** Ends the objects that members who are not owners created for a member who becomes an owner. */
export async function endHandedToOwner(deps: RevocationDeps, memberId: string): Promise<RevocationEffects> {
  const ended = await Promise.all(
    deps.delegations.flatMap(({ afterOwnership }) => afterOwnership?.(deps, memberId) ?? []),
  );
  return {
    changes: ended.flatMap(({ changes }) => changes),
    ops: ended.flatMap(({ ops }) => ops),
  };
}
