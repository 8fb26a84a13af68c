// Invitations: links by which an account takes the seat of a member. The set-up link of a first start is one, for the owner. A link works
// once and for a week, a new one replaces the old, and what is kept of it is a hash.
import { systemAuthor, type Committed, type Committer } from '../../changes/commit.ts';
import type { Directory, Services } from '../../context.ts';
import { linkTokenHash, mintLinkToken } from '../../lib/link-token.ts';
import { dayMs } from '../../lib/time.ts';
import { systemStatement, tenantStatement, type Row } from '../../store/statement.ts';
import { scopeOf, tenantOp, type Op, type Scope, type Store } from '../../store/store.ts';
import { takeSeatOp } from '../accounts/accounts.ts';
import { memberKind, type Member } from '../members/kind.ts';

export const invitationDays = 7;

const putInvitation = tenantStatement(
  'invitations.put',
  `INSERT INTO invitations (workspace_id, member_id, token_hash, invited_by, created_at, expires_at)
   VALUES (:ws, :member, :hash, :by, :now, :expires)
   ON CONFLICT (workspace_id, member_id) DO UPDATE SET token_hash = excluded.token_hash, invited_by = excluded.invited_by,
     created_at = excluded.created_at, expires_at = excluded.expires_at`,
);
const deleteInvitation = tenantStatement(
  'invitations.delete',
  'DELETE FROM invitations WHERE workspace_id = :ws AND member_id = :member',
);
const useInvitation = tenantStatement(
  'invitations.use',
  `DELETE FROM invitations
   WHERE workspace_id = :ws AND member_id = :member AND token_hash = :hash AND expires_at > :now`,
);
const anyInvitation = tenantStatement<{ expires_at: number }>(
  'invitations.of_member',
  'SELECT expires_at FROM invitations WHERE workspace_id = :ws AND member_id = :member',
);
const findInvitation = systemStatement<{
  workspace_id: string;
  workspace_name: string;
  member_id: string;
  invited_by: string;
}>(
  'invitations.by_token',
  'whoever has the link belongs to no workspace yet',
  `SELECT i.workspace_id, w.name AS workspace_name, i.member_id, i.invited_by
   FROM invitations AS i JOIN workspaces AS w ON w.workspace_id = i.workspace_id
   WHERE i.token_hash = :hash AND i.expires_at > :now`,
);
const readMember = tenantStatement<Row>(
  'members.invited',
  `SELECT ${memberKind.select} FROM members
   WHERE workspace_id = :ws AND id = :id AND deleted_at IS NULL AND joined_at IS NULL`,
);

/** A link that is made, and the operation that stores it in place of an earlier one. @param by the name of who makes it */
export function newInvitation(
  { baseUrl, nowMs }: Pick<Services, 'baseUrl' | 'nowMs'>,
  scope: Scope,
  { memberId, by }: { memberId: string; by: string },
): { url: string; expiresAt: number; op: Op } {
  const { token, hash } = mintLinkToken();
  const now = nowMs();
  const expires = now + invitationDays * dayMs;
  const op = tenantOp(scope, putInvitation, { member: memberId, hash, by, now, expires });
  return { url: `${baseUrl}/join/${token}`, expiresAt: expires, op };
}

export function withdrawOp(scope: Scope, memberId: string): Op {
  return tenantOp(scope, deleteInvitation, { member: memberId });
}

/** Whether there is one, also of one that has expired. */
export async function isInvited(store: Store, scope: Scope, memberId: string): Promise<boolean> {
  return (await store.readOne(scope, anyInvitation, { member: memberId })) !== undefined;
}

/** What a link is for. */
export interface Invitation {
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly member: Member;
  readonly invitedBy: string;
  readonly hash: string;
}

type Taken = 'taken' | 'used' | 'known_address' | 'busy';

export interface Invitations {
  /** @returns null for a link that is unknown, used, replaced, withdrawn or expired */
  find(token: string): Promise<Invitation | null>;
  /**
   * An account takes the seat.
   * @param account its id, and the operation that makes it where it is new
   * @param patch what the person says of themself
   * @returns `known_address`: another account has the address of the new one; `busy`: try again
   */
  take(
    invitation: Invitation,
    account: { readonly id: string; readonly op?: Op },
    patch?: Partial<Pick<Member, 'name'>>,
  ): Promise<Taken>;
}

export function createInvitations(options: {
  store: Store;
  committer: Committer;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  nowMs: () => number;
}): Invitations {
  const { store, committer, directoryOf, nowMs } = options;
  return {
    async find(token) {
      const hash = linkTokenHash(token);
      const [row] = await store.readSystem(findInvitation, { hash, now: nowMs() });
      if (!row) return null;
      const { workspace_id: workspaceId, workspace_name: workspaceName, invited_by: invitedBy } = row;
      const found = await store.readOne(scopeOf(workspaceId), readMember, { id: row.member_id });
      return found
        ? { workspaceId, workspaceName, invitedBy, hash, member: memberKind.fromRow(found) }
        : null;
    },
    async take({ workspaceId, member, hash }, account, patch = {}) {
      const scope = scopeOf(workspaceId);
      const now = nowMs();
      const change = memberKind.update(member, { ...patch, joinedAt: now }, now);
      const { name } = change?.after ?? member;
      const use = tenantOp(scope, useInvitation, { member: member.id, hash, now }, { expectRows: 1 });
      const committed = await committer.commit(
        {
          ...systemAuthor(scope, 'setup', await directoryOf(scope)),
          actor: { kind: 'user', id: member.id, name, memberId: member.id },
        },
        change ? [change] : [],
        [use],
        [...(account.op ? [account.op] : []), takeSeatOp(account.id, workspaceId, member.id, now)],
      );
      return outcomeOf(committed, account.op !== undefined);
    },
  };
}

function outcomeOf(committed: Committed, isNew: boolean): Taken {
  if (committed.ok) return 'taken';
  if (committed.part === 'guard') return 'used';
  // A new account has no seat yet that could be in the way.
  return committed.part === 'last' && isNew ? 'known_address' : 'busy';
}
