// Objects that a member or a key created for others, such as keys and webhooks, end with the right to create them.
// Each feature declares how its own objects end. docs/decisions/0076.
import type { Ids } from '../../platform/lib/ids.ts';
import type { Op, Scope, Store } from '../../platform/store/store.ts';
import type { Directory } from '../context.ts';
import type { Role } from '../rights/roles.ts';
import type { Change } from './change.ts';

export interface RevocationDeps {
  readonly store: Store;
  readonly scope: Scope;
  readonly directory: Directory;
  readonly ids: Ids;
  /** Delegations of all features, in the order in which the objects end. */
  readonly delegations: readonly Delegation[];
  nowMs(): number;
}

export interface RightsLoss {
  /** Member who loses a role or is removed, with the new role, null for a removed one; null if only a key is revoked. */
  readonly member: { readonly id: string; readonly name: string; readonly role: Role | null } | null;
  /** Name of the member or of the key. */
  readonly name: string;
  /** Ids of the keys that end. All objects created with these keys end too. */
  readonly keyIds: readonly string[];
}

/** Changes and operations for the commit that changes the rights. */
export interface RevocationEffects {
  readonly changes: readonly Change[];
  readonly ops: readonly Op[];
  /** Ids of the keys that end, for the delegations that follow. */
  readonly keyIds?: readonly string[];
}

/** Ends the objects of one feature that were created for others. */
export interface Delegation {
  afterLoss(deps: RevocationDeps, loss: RightsLoss): Promise<RevocationEffects>;
  /** @param memberId member who becomes an owner */
  afterOwnership?(deps: RevocationDeps, memberId: string): Promise<RevocationEffects>;
}
