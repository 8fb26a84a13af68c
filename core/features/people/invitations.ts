// Invitations: links through which an account becomes a member; the set-up link of the first start invites
// the owner. A link is single-use, expires after a week, and replaces the previous one. Only the hash of a
// link is stored.
import { systemAuthor, type Committed, type Committer } from '../../kernel/changes/commit.ts';
import type { Directory } from '../../kernel/context.ts';
import type { LinkDeps } from './deps.ts';
import { mintLinkToken, tokenHash } from '../../platform/lib/secrets/tokens.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import { systemStatement, tenantStatement } from '../../platform/store/statement.ts';
import { scopeOf, tenantOp, type Op, type Scope, type Store } from '../../platform/store/store.ts';
import { emailKeyOf, addMembershipOp } from './accounts.ts';
import type { Maker } from './delegation.ts';
import { nameProblem } from './roles.ts';
import { memberModel, type Member } from './model.ts';
import type { Schema } from '../../platform/store/generated/schema.ts';
import { invitationTable, memberTable } from './tables.ts';

export const invitationDays = 7;

const putInvitation = tenantStatement(
  'invitations.put',
  `INSERT INTO invitations (workspace_id, member_id, token_hash, mailed_hash, email_key, role, invited_by, invited_by_id, invited_with,
     created_at, expires_at)
   SELECT :ws, m.id, :hash, :mailed, m.email_key, m.role, :by, :maker, :key, :now, :expires
   FROM members AS m WHERE m.workspace_id = :ws AND m.id = :member AND m.role = :role AND m.email IS :email
   ON CONFLICT (workspace_id, member_id) DO UPDATE SET token_hash = excluded.token_hash, mailed_hash = excluded.mailed_hash,
     email_key = excluded.email_key, role = excluded.role, invited_by = excluded.invited_by, invited_by_id = excluded.invited_by_id,
     invited_with = excluded.invited_with, created_at = excluded.created_at, expires_at = excluded.expires_at`,
);
const deleteInvitation = invitationTable.remove('delete', ['member_id']);
const deleteHanded = tenantStatement(
  'invitations.delete_handed',
  `DELETE FROM invitations WHERE workspace_id = :ws AND invited_by_id = :maker
     AND NOT EXISTS (SELECT 1 FROM members AS m WHERE m.workspace_id = :ws AND m.id = invitations.member_id
       AND m.role IN (SELECT value FROM json_each(:roles)))`,
);
const deleteInvitedWith = tenantStatement(
  'invitations.delete_created_with',
  'DELETE FROM invitations WHERE workspace_id = :ws AND invited_with IN (SELECT value FROM json_each(:keys))',
);
const useInvitation = tenantStatement(
  'invitations.use',
  `DELETE FROM invitations
   WHERE workspace_id = :ws AND member_id = :member AND token_hash = :hash AND expires_at > :now
     AND EXISTS (SELECT 1 FROM members AS m WHERE m.workspace_id = :ws AND m.id = :member
       AND m.role = invitations.role AND m.email_key IS invitations.email_key)`,
);
const anyInvitation = invitationTable.select('of_member', ['expires_at'], ['member_id']);

type InvitationRow = Pick<
  Schema['invitations'],
  'workspace_id' | 'member_id' | 'invited_by' | 'token_hash' | 'email_key'
> & { readonly workspace_name: string; readonly is_mailed: number };

/** Join that excludes invitations whose member has another role or address now. */
const ofMemberAsInvited = `JOIN members AS m ON m.workspace_id = i.workspace_id AND m.id = i.member_id
   AND m.role = i.role AND m.email_key IS i.email_key`;

const findInvitation = systemStatement<InvitationRow>(
  'invitations.by_token',
  'the holder of the link belongs to no workspace yet',
  `SELECT i.workspace_id, w.name AS workspace_name, i.member_id, i.invited_by, i.token_hash, i.email_key,
     i.mailed_hash IS :hash AS is_mailed
   FROM invitations AS i JOIN workspaces AS w ON w.workspace_id = i.workspace_id ${ofMemberAsInvited}
   WHERE (i.token_hash = :hash OR i.mailed_hash = :hash) AND i.expires_at > :now`,
);
const findByAddress = systemStatement<InvitationRow>(
  'invitations.by_address',
  'the holder of the address belongs to no workspace yet',
  `SELECT i.workspace_id, w.name AS workspace_name, i.member_id, i.invited_by, i.token_hash, i.email_key, 0 AS is_mailed
   FROM invitations AS i JOIN workspaces AS w ON w.workspace_id = i.workspace_id ${ofMemberAsInvited}
   WHERE i.email_key = :key AND i.expires_at > :now ORDER BY i.created_at, i.workspace_id LIMIT 20`,
);
const readMember = memberTable.selectAll('invited', ['id'], 'AND deleted_at IS NULL AND joined_at IS NULL');

export interface InvitedMember {
  readonly id: string;
  readonly role: Member['role'];
  readonly email: string | null;
}

/**
 * Creates a link to share and another one to mail, and the operation that stores both and replaces earlier
 * ones. The operation fails if the role or address of the member has changed meanwhile. The mailed link
 * verifies the address, so nobody else may receive it.
 * @param by name of the inviter
 * @param maker member and key of the inviter, whose loss of rights ends the invitation; absent for the
 * operator
 */
export function newInvitation(
  { baseUrl, nowMs }: LinkDeps,
  scope: Scope,
  { member, by, maker }: { member: InvitedMember; by: string; maker?: Maker },
): { url: string; mailedUrl: string; expiresAt: number; op: Op } {
  const { token, hash } = mintLinkToken();
  const mailed = mintLinkToken();
  const now = nowMs();
  const expires = now + invitationDays * dayMs;
  const { id, role, email } = member;
  const from = { by, maker: maker?.memberId ?? null, key: maker?.keyId ?? null };
  const row = { member: id, role, email, hash, mailed: mailed.hash, ...from, now, expires };
  const linkOf = (text: string): string => `${baseUrl}/join/${text}`;
  return {
    url: linkOf(token),
    mailedUrl: linkOf(mailed.token),
    expiresAt: expires,
    op: tenantOp(scope, putInvitation, row, { expectRows: 1 }),
  };
}

export function withdrawOp(scope: Scope, memberId: string): Op {
  return deleteInvitation(scope, { member_id: memberId });
}

/** Withdraws the invitations that a member created, except those of members with these roles. */
export function withdrawHandedOp(scope: Scope, maker: string, roles: readonly string[]): Op {
  return tenantOp(scope, deleteHanded, { maker, roles: JSON.stringify(roles) });
}

export function withdrawInvitedWithOp(scope: Scope, keyIds: readonly string[]): Op {
  return tenantOp(scope, deleteInvitedWith, { keys: JSON.stringify(keyIds) });
}

/** Returns true for an expired invitation as well. */
export async function isInvited(store: Store, scope: Scope, memberId: string): Promise<boolean> {
  return (await anyInvitation.one(store, scope, { member_id: memberId })) !== undefined;
}

export interface Invitation {
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly member: Member;
  readonly invitedBy: string;
  readonly hash: string;
  /** Normalized address of the member at the invitation; null for none. */
  readonly emailKey: string | null;
  /** True if the person opened the mailed link, which proves control of the address. */
  readonly isMailed: boolean;
}

type TakeOutcome = 'taken' | 'used' | 'known_address' | 'busy';

export interface Invitations {
  /** @returns null for a link that is unknown, used, replaced, withdrawn or expired */
  find(token: string): Promise<Invitation | null>;
  /**
   * Returns the valid invitations for an address, 20 at most. The caller must have verified that the address
   * belongs to the person.
   */
  findByAddress(email: string): Promise<readonly Invitation[]>;
  /** Returns an error message if the member must not have this name; null otherwise. */
  problemOfName(invitation: Invitation, name: string): Promise<string | null>;
  /**
   * Accepts an invitation: makes an account the member.
   * @param account id of the account; for a new account also the operation that inserts it, and further
   * operations
   * @param patch name that the person chose
   * @returns `used` if the invitation is no longer valid; `known_address` if another account has the address
   * of the new one; `busy` after a conflict that a retry can resolve
   */
  take(
    invitation: Invitation,
    account: { readonly id: string; readonly op?: Op; readonly also?: readonly Op[] },
    patch?: { readonly name?: string },
  ): Promise<TakeOutcome>;
}

export function createInvitations(options: {
  store: Store;
  committer: Committer;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  nowMs: () => number;
}): Invitations {
  const { store, committer, directoryOf, nowMs } = options;
  const invitationOf = async (row: InvitationRow): Promise<Invitation | null> => {
    const { workspace_id: workspaceId, workspace_name: workspaceName, invited_by: invitedBy } = row;
    const memberRow = await readMember.one(store, scopeOf(workspaceId), { id: row.member_id });
    if (!memberRow) return null;
    const isMailed = row.is_mailed === 1 && row.email_key !== null;
    return {
      workspaceId,
      workspaceName,
      invitedBy,
      hash: row.token_hash,
      emailKey: row.email_key,
      isMailed,
      member: memberModel.fromRow(memberRow),
    };
  };
  return {
    async find(token) {
      const [row] = await store.readSystem(findInvitation, { hash: tokenHash(token), now: nowMs() });
      return row ? invitationOf(row) : null;
    },
    async findByAddress(email) {
      const rows = await store.readSystem(findByAddress, { key: emailKeyOf(email), now: nowMs() });
      return (await Promise.all(rows.map(invitationOf))).filter((one) => one !== null);
    },
    async problemOfName({ workspaceId, member }, name) {
      if (name === member.name) return null;
      const { members } = await directoryOf(scopeOf(workspaceId));
      const problem = nameProblem({ id: member.id, name }, members);
      return problem && `${problem.why} ${problem.fix}`;
    },
    async take({ workspaceId, member, hash }, account, patch = {}) {
      const scope = scopeOf(workspaceId);
      const now = nowMs();
      const change = memberModel.update(member, { ...patch, joinedAt: now }, now);
      const { name } = change?.after ?? member;
      const use = tenantOp(scope, useInvitation, { member: member.id, hash, now }, { expectRows: 1 });
      const committed = await committer.commit(
        {
          ...systemAuthor(scope, 'setup', await directoryOf(scope)),
          actor: { kind: 'user', id: member.id, name, memberId: member.id },
        },
        change ? [change] : [],
        [use],
        [
          ...(account.op ? [account.op] : []),
          addMembershipOp(account.id, workspaceId, member.id, now),
          ...(account.also ?? []),
        ],
      );
      return outcomeOf(committed, account.op !== undefined);
    },
  };
}

function outcomeOf(committed: Committed, isNew: boolean): TakeOutcome {
  if (committed.ok) return 'taken';
  if (committed.part === 'guard') return 'used';
  // A new account is not a member yet, so only its address can conflict.
  return committed.part === 'last' && isNew ? 'known_address' : 'busy';
}
