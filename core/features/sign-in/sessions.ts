// Sessions of signed-in browsers. Only the cookie has the token. The database has its hash, so that a leaked
// database opens no session. A session covers all workspaces of the account.
import { createHmac, randomBytes } from 'node:crypto';
import { tokenHash } from '../../platform/lib/secrets/tokens.ts';
import { type IdentityDeps, membershipOf } from '../people/index.ts';
import { cookieLine, cookieOf } from '../../kernel/html.ts';
import type { Principal } from '../../kernel/http/principal.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { scopeOf, systemOp, type Op, type Store } from '../../platform/store/store.ts';
import type { Role } from '../../kernel/rights/roles.ts';
import type { RowOf } from '../../kernel/table/define.ts';
import type { sessionTable } from './tables.ts';

const dayMs = 86_400_000;
const idleMs = 7 * dayMs;
const lifeMs = 30 * dayMs;
/** Minimum interval between two recorded uses of a session. */
const seenEveryMs = 60_000;

const cookie = 'tatami';
export const sessionPrefix = 'ses';

export interface AccountMembership {
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly memberId: string;
  readonly role: Role;
}

/** A signed-in person. Times are milliseconds since the epoch. */
export interface SignedIn {
  readonly sessionId: string;
  readonly accountId: string;
  readonly name: string;
  readonly email: string;
  /** Time of the last authentication. */
  readonly authenticatedAt: number;
  /** Sent as `form_token` with each form, to prove that a page of this session created the form. */
  readonly formToken: string;
  readonly memberships: readonly AccountMembership[];
}

/** Browser of a session. */
export interface Device {
  readonly address: string;
  /** Value of the `User-Agent` header. */
  readonly agent: string;
}

export interface ListedSession {
  readonly id: string;
  readonly address: string;
  readonly agent: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
}

type Session = RowOf<typeof sessionTable>;

const across = 'an account belongs to the installation, and can be a member of several workspaces';

const insertSession = systemStatement(
  'sessions.insert',
  across,
  `INSERT INTO sessions (id, account_id, token_hash, created_at, authenticated_at, last_seen_at, expires_at, address, agent)
   VALUES (:id, :account, :hash, :now, :now, :now, :expires, :address, :agent)`,
);
type FoundSession = Pick<
  Session,
  'id' | 'account_id' | 'authenticated_at' | 'last_seen_at' | 'expires_at'
> & { name: string; email: string };
const sessionWithAccount = `SELECT s.id, s.account_id, a.name, a.email, s.authenticated_at, s.last_seen_at, s.expires_at
   FROM sessions AS s JOIN accounts AS a ON a.id = s.account_id`;
const findSession = systemStatement<FoundSession>(
  'sessions.by_token',
  across,
  `${sessionWithAccount} WHERE s.token_hash = :hash`,
);
const findSessionById = systemStatement<FoundSession>(
  'sessions.with_account_by_id',
  across,
  `${sessionWithAccount} WHERE s.id = :id`,
);
const noteSeen = systemStatement(
  'sessions.note_seen',
  across,
  'UPDATE sessions SET last_seen_at = :now WHERE id = :id',
);
const deleteSession = systemStatement(
  'sessions.delete',
  across,
  'DELETE FROM sessions WHERE account_id = :account AND id = :id',
);
const deleteSessions = systemStatement(
  'sessions.delete_others',
  across,
  'DELETE FROM sessions WHERE account_id = :account AND id <> :kept',
);
const proveSession = systemStatement(
  'sessions.prove',
  across,
  'UPDATE sessions SET authenticated_at = :now WHERE id = :id',
);
const stillThere = systemStatement(
  'sessions.still_there',
  across,
  'UPDATE sessions SET account_id = account_id WHERE id = :id',
);
const listSessions = systemStatement<
  Pick<Session, 'id' | 'address' | 'agent' | 'created_at' | 'last_seen_at'>
>(
  'sessions.of_account',
  across,
  `SELECT id, address, agent, created_at, last_seen_at FROM sessions
   WHERE account_id = :account AND expires_at > :now AND last_seen_at > :idle ORDER BY last_seen_at DESC, id LIMIT 100`,
);
const findMemberships = systemStatement<{
  workspace_id: string;
  workspace_name: string;
  member_id: string;
  role: Role;
}>(
  'memberships.of_account',
  across,
  `SELECT s.workspace_id, w.name AS workspace_name, s.member_id, m.role
   FROM memberships AS s JOIN workspaces AS w ON w.workspace_id = s.workspace_id
   JOIN members AS m ON m.workspace_id = s.workspace_id AND m.id = s.member_id
   WHERE s.account_id = :account AND m.deleted_at IS NULL ORDER BY s.created_at, s.workspace_id`,
);

export interface Sessions {
  /**
   * Signs an account in.
   * @param guards operations that fail if the credential of the sign-in is no longer valid
   * @returns the `Set-Cookie` line for the browser
   * @throws ApiError forbidden
   */
  begin(accountId: string, device: Device, guards?: readonly Op[]): Promise<string>;
  /** Returns the person that the session cookie identifies; null for none. */
  find(headers: Headers): Promise<SignedIn | null>;
  /** Returns the person of a session; null once it has ended. Does not count as a use of the session. */
  resume(sessionId: string): Promise<Omit<SignedIn, 'formToken'> | null>;
  /** Does nothing if the session has ended already. */
  end(accountId: string, sessionId: string): Promise<void>;
  /** Returns 100 valid sessions at most, most recently used first. */
  list(accountId: string): Promise<readonly ListedSession[]>;
  /** Records a new authentication in the session. */
  prove(sessionId: string): Promise<void>;
  readonly forgetCookie: string;
  /** Must be called after a commit with `endSessionsOp`. */
  ended(): void;
  /** Registers a callback for each end of sessions. */
  onEnded(callback: () => void): void;
  /** Returns null if the person is not a member of the workspace. */
  principal(who: Pick<SignedIn, 'sessionId' | 'memberships'>, workspaceId: string): Promise<Principal | null>;
}

/** Returns an operation that fails if the session has ended meanwhile. */
export function stillSignedInOp(sessionId: string): Op {
  return systemOp(stillThere, { id: sessionId }, { expectRows: 1 });
}

/** @param retainedId id of a session that stays valid */
export function endSessionsOp(accountId: string, retainedId = ''): Op {
  return systemOp(deleteSessions, { account: accountId, kept: retainedId });
}

export function createSessions({ store, ids, nowMs }: IdentityDeps): Sessions {
  const listeners: (() => void)[] = [];
  const ended = (): void => {
    for (const callback of listeners) callback();
  };
  const isOver = (row: FoundSession): boolean =>
    nowMs() >= row.expires_at || nowMs() >= row.last_seen_at + idleMs;
  const find: Sessions['find'] = async (headers) => {
    const token = cookieOf(headers, cookie);
    if (token === null) return null;
    const [row] = await store.readSystem(findSession, { hash: tokenHash(token) });
    if (!row || isOver(row)) return null;
    const now = nowMs();
    if (now - row.last_seen_at >= seenEveryMs && store.status().writable)
      await store.commit([systemOp(noteSeen, { id: row.id, now })]);
    const formToken = createHmac('sha256', token).update('form').digest('base64url');
    return { ...(await personOf(store, row)), formToken };
  };

  return {
    async begin(accountId, { address, agent }, guards = []) {
      const token = randomBytes(32).toString('base64url');
      const now = nowMs();
      const row = { id: ids.next(sessionPrefix), account: accountId, hash: tokenHash(token), now };
      const { ok } = await store.commit([
        ...guards,
        systemOp(insertSession, {
          ...row,
          address,
          agent: agent.slice(0, 200),
          expires: now + lifeMs,
        }),
      ]);
      if (!ok) throw new ApiError('forbidden', 'The account was changed while you signed in. Sign in again.');
      return cookieLine(cookie, token, lifeMs / 1000);
    },
    find,
    async resume(id) {
      const [row] = await store.readSystem(findSessionById, { id });
      return !row || isOver(row) ? null : personOf(store, row);
    },
    async end(account, id) {
      await store.commit([systemOp(deleteSession, { account, id })]);
      ended();
    },
    ended,
    onEnded: (callback) => void listeners.push(callback),
    list: (account) => listOf(store, account, nowMs()),
    async prove(id) {
      await store.commit([systemOp(proveSession, { id, now: nowMs() })]);
    },
    forgetCookie: cookieLine(cookie, '', 0),
    principal: (who, workspaceId) => principalOf(store, who, workspaceId),
  };
}

async function personOf(store: Store, row: FoundSession): Promise<Omit<SignedIn, 'formToken'>> {
  const memberships = await store.readSystem(findMemberships, { account: row.account_id });
  return {
    sessionId: row.id,
    accountId: row.account_id,
    name: row.name,
    email: row.email,
    authenticatedAt: row.authenticated_at,
    memberships: memberships.map((membership) => ({
      workspaceId: membership.workspace_id,
      workspaceName: membership.workspace_name,
      memberId: membership.member_id,
      role: membership.role,
    })),
  };
}

async function listOf(store: Store, account: string, now: number): Promise<ListedSession[]> {
  const rows = await store.readSystem(listSessions, { account, now, idle: now - idleMs });
  return rows.map(({ id, address, agent, created_at, last_seen_at }) => ({
    id,
    address,
    agent,
    createdAt: created_at,
    lastSeenAt: last_seen_at,
  }));
}

async function principalOf(
  store: Store,
  { sessionId, memberships }: Pick<SignedIn, 'sessionId' | 'memberships'>,
  workspaceId: string,
): Promise<Principal | null> {
  const memberId = memberships.find((one) => one.workspaceId === workspaceId)?.memberId;
  if (memberId === undefined) return null;
  const scope = scopeOf(workspaceId, sessionId, memberId);
  const membership = await membershipOf(store, scope, memberId);
  if (!membership) return null;
  return {
    scope,
    actor: { kind: 'user', id: memberId, name: membership.name, memberId },
    ...membership.rights,
    tokenId: sessionId,
    membership,
  };
}
