// Ends the keys, invitation links and other objects that a member or a key created for others, when the
// member loses a role or is removed, or the key is revoked. The caller commits the result together with that
// change. docs/decisions/0076.
import type { CreationDeps } from './deps.ts';
import type { Change } from '../../kernel/changes/change.ts';
import type { Directory } from '../../kernel/context.ts';
import type { Role } from '../../kernel/rights/roles.ts';
import type { Op, Scope, Store } from '../../platform/store/store.ts';
import { endHandedBy, endMintedWith } from '../api-keys/handed.ts';
import type { ApiKey } from '../api-keys/model.ts';
import { withdrawHandedOp, withdrawInvitedWithOp } from './invitations/invitations.ts';
import { roles } from './members/contract.ts';

export interface Losing extends CreationDeps {
  readonly store: Store;
  readonly scope: Scope;
  readonly directory: Directory;
}

interface Loser {
  readonly id: string;
  readonly name: string;
  /** New role of the member; null for a removed member. */
  readonly role: Role | null;
}

export interface Loss {
  /** Member who loses a role or is removed; null if only a key is revoked. */
  readonly member: Loser | null;
  /** Name of the member or of the key. */
  readonly name: string;
  /** Ids of the keys that end. All objects created with these keys end too. */
  readonly keyIds: readonly string[];
}

/** Changes and operations for the commit that removes the right. */
export interface RevocationEffects {
  readonly changes: readonly Change[];
  readonly ops: readonly Op[];
}

type Dependents = (losing: Losing, loss: Loss) => Promise<RevocationEffects>;
const dependents: Dependents[] = [];

/**
 * Registers a type of object that ends with the rights of its creator. Must be called once per type, when its
 * module is loaded.
 */
export function endsWithMaker(end: Dependents): void {
  dependents.push(end);
}

/** Returns the roles that a member can give to others: any for an owner, any except owner for an admin. */
function mayHandOut(role: Role | null): readonly Role[] {
  if (role === 'owner') return roles;
  return role === 'admin' ? roles.filter((one) => one !== 'owner') : [];
}

/**
 * Revokes the API keys and withdraws the invitation links that a member issued to others and may no longer
 * issue with the new role.
 */
export async function lossOfMember(losing: Losing, member: Loser): Promise<RevocationEffects> {
  const { id, name, role } = member;
  const left = mayHandOut(role);
  const keys = await endHandedBy(losing, id, left);
  const links = withdrawHandedOp(losing.scope, id, left);
  return withDependents(losing, { member, name, keyIds: keys.ids }, keys, [links]);
}

/**
 * Ends the objects that were created with a revoked key for others. Ends nothing if a live successor has
 * replaced the key, because the objects then depend on the successor.
 */
export async function lossOfKey(losing: Losing, key: ApiKey): Promise<RevocationEffects> {
  const keys = await endMintedWith(losing, key);
  if (!keys) return { changes: [], ops: [] };
  const others = keys.changes.filter(({ id }) => id !== key.id);
  return withDependents(
    losing,
    { member: null, name: key.name, keyIds: keys.ids },
    { ...keys, changes: others },
  );
}

async function withDependents(
  losing: Losing,
  loss: Loss,
  keys: RevocationEffects,
  ops: readonly Op[] = [],
): Promise<RevocationEffects> {
  const rest = await Promise.all(dependents.map((end) => end(losing, loss)));
  return {
    changes: [keys, ...rest].flatMap(({ changes }) => changes),
    ops: [
      ...[keys, ...rest].flatMap((one) => one.ops),
      ...ops,
      withdrawInvitedWithOp(losing.scope, loss.keyIds),
    ],
  };
}
