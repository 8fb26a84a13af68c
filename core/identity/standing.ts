// What a member may do at this moment: every token acts for a member, and none can do more than its member.
import { rightsOfRole, type Role } from '../rights/roles.ts';
import type { Rights } from '../rights/rights.ts';
import { tenantStatement } from '../store/statement.ts';
import type { Scope, Store } from '../store/store.ts';

export interface Standing {
  readonly name: string;
  readonly role: Role;
  readonly rights: Rights;
}

const findMember = tenantStatement<{ name: string; role: Role }>(
  'members.standing',
  'SELECT name, role FROM members WHERE workspace_id = :ws AND id = :id AND deleted_at IS NULL',
);

/** @returns null for who is no member, or was removed */
export async function standingOf(
  store: Pick<Store, 'readOne'>,
  scope: Scope,
  memberId: string,
): Promise<Standing | null> {
  const row = await store.readOne(scope, findMember, { id: memberId });
  return row ? { name: row.name, role: row.role, rights: rightsOfRole(row.role) } : null;
}
