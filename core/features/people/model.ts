// Model of members and the look-up of their rights, separate from their operations, so that the role rules
// can read the caller without an import cycle.
import { modelOf } from '../../kernel/resource/model.ts';
import { addressKey } from '../../platform/lib/address.ts';
import { foldCase } from '../../platform/lib/text/words.ts';
import { member } from './contract.ts';
import { rightsOfRole, type Membership } from '../../kernel/rights/roles.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import type { Scope, Store } from '../../platform/store/store.ts';
import { memberTable } from './tables.ts';

export const memberModel = modelOf(member, {
  // Normalized address for look-ups.
  columns: {
    emailKey: {
      column: 'email_key',
      from: 'email',
      // Addresses stored before normalization can be invalid under the current rules; their key is the
      // case-folded address.
      write: (email) => (typeof email === 'string' ? (addressKey(email) ?? foldCase(email)) : null),
    },
  },
  shows: { teams: ({ teams }, { directory }) => teams.flatMap((id) => directory.teams.get(id)?.key ?? []) },
});
export type Member = NonNullable<Awaited<ReturnType<typeof memberModel.find>>>;

const findMember = memberTable.select(
  'standing',
  ['name', 'role', 'teams_json'],
  ['id'],
  'AND deleted_at IS NULL',
);
const keysOfTeams = tenantStatement<{ key: string }>(
  'teams.keys',
  'SELECT key FROM teams WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))',
);

/**
 * Returns the current name, role and rights of a member, which limit the rights of every token of the member.
 * @returns null for an unknown or removed member
 */
export async function membershipOf(store: Store, scope: Scope, memberId: string): Promise<Membership | null> {
  const row = await findMember.one(store, scope, { id: memberId });
  if (!row) return null;
  const { name, role, teams_json: ids } = row;
  const teams = role === 'guest' ? await store.read(scope, keysOfTeams, { ids }) : [];
  const keys = teams.map(({ key }) => key);
  return { name, role, rights: rightsOfRole(role, keys) };
}
