// The operator API, for everybody with access to the data directory, which already implies access to all
// its data: no operation authenticates.
import { systemAuthor, type Committer } from '../../kernel/changes/commit.ts';
import type { Change } from '../../kernel/changes/change.ts';
import type { Delegation } from '../../kernel/changes/delegation.ts';
import type { Directory } from '../../kernel/context.ts';
import { afterRevocation, apiKeyModel, newKey, type ApiKey, rollKey } from '../../features/api-keys/index.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import type { Ids } from '../../platform/lib/ids.ts';
import { allScopes } from '../../kernel/rights/table.ts';
import { tenantStatement, type SqlRow } from '../../platform/store/statement.ts';
import { scopeOf, type Op, type Scope, type Store } from '../../platform/store/store.ts';
import { findKey, findMember, findWorkspace, workspacesOf } from './find.ts';
import type { OperatorRpc, ListedKey } from './rpc-schemas.ts';
import { isoTime } from '../../kernel/changes/operations.ts';
import {
  accountById,
  accountsByEmail,
  workspaceNamesOf,
  type Account,
  newInvitation,
} from '../../features/people/index.ts';
import { turnOffOps, newReset } from '../../features/sign-in/index.ts';
import { tableOf } from '../../features/tables.ts';

/** Maximum number of listed keys, because a list is built in memory. */
const listedMax = 1_000;

const newestKeys = tenantStatement<SqlRow>(
  'api_keys.newest',
  `SELECT ${apiKeyModel.select} FROM api_keys WHERE workspace_id = :ws ORDER BY created_at DESC, id DESC LIMIT :limit`,
);

export interface OperatorRpcOptions {
  readonly store: Store;
  readonly ids: Ids;
  readonly committer: Committer;
  readonly baseUrl: string;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly delegations: readonly Delegation[];
  nowMs(): number;
}

function createKeyRpc(options: OperatorRpcOptions): Omit<OperatorRpc, 'invite' | 'reset'> {
  const { store, directoryOf, nowMs } = options;
  const commit = committerOf(options);

  return {
    async create({ workspace, member, name, scopes, expiresAt = null }) {
      const { id } = await findWorkspace(store, workspace);
      const scope = scopeOf(id);
      const directory = await directoryOf(scope);
      const { id: memberId } = await findMember(store, scope, member);
      const { change, text } = newKey(options, { name, scopes: [...new Set(scopes)], memberId, expiresAt });
      await commit(scope, directory, [change]);
      return { ...toListedKey(options, scope, change.after, directory), key: text };
    },
    async list({ workspace }) {
      const workspaces =
        workspace === undefined ? await workspacesOf(store) : [await findWorkspace(store, workspace)];
      const keys: ListedKey[] = [];
      for (const { id } of workspaces) {
        const scope = scopeOf(id);
        const limit = listedMax + 1 - keys.length;
        const rows = await store.read(scope, newestKeys, { limit });
        const directory = await directoryOf(scope);
        keys.push(...rows.map((row) => toListedKey(options, scope, apiKeyModel.fromRow(row), directory)));
        if (keys.length > listedMax) break;
      }
      return { workspaces, keys: keys.slice(0, listedMax), hasMore: keys.length > listedMax };
    },
    async revoke({ key: reference }) {
      const { scope, key } = await findKey(store, reference);
      const directory = await directoryOf(scope);
      const change = apiKeyModel.update(key, { revokedAt: key.revokedAt ?? nowMs() }, nowMs());
      if (change) {
        const lost = await afterRevocation({ ...options, scope, directory }, key);
        await commit(scope, directory, [change, ...lost.changes], lost.ops);
      }
      return toListedKey(options, scope, change?.after ?? key, directory);
    },
    async roll({ key: reference, graceMs, allScopes: isWider, expiresAt }) {
      const { scope, key } = await findKey(store, reference);
      const directory = await directoryOf(scope);
      const { changes, successor, old, text } = rollKey({ ...options, directory }, key, {
        graceMs,
        ...(isWider ? { scopes: allScopes } : {}),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      });
      await commit(scope, directory, changes);
      const previous = toListedKey(options, scope, old, directory);
      return { ...toListedKey(options, scope, successor, directory), key: text, previous };
    },
  };
}

type Commit = (
  scope: Scope,
  directory: Directory,
  changes: readonly Change[],
  last?: readonly Op[],
) => Promise<void>;

function committerOf({ committer }: OperatorRpcOptions): Commit {
  return async (scope, directory, changes, last = []) => {
    const committed = await committer.commit(systemAuthor(scope, 'operator', directory), changes, [], last);
    if (!committed.ok)
      throw new ApiError('conflict', `Nothing was changed: ${committed.message}. Try again.`);
  };
}

function toListedKey(
  { baseUrl }: OperatorRpcOptions,
  { workspaceId }: Scope,
  key: ApiKey,
  directory: Directory,
): ListedKey {
  return { workspaceId, ...apiKeyModel.toResponse(key, { directory, baseUrl }) };
}

const findMembership = tableOf.members.select('joined_at', ['joined_at', 'role', 'email'], ['id']);

function createMemberRpc(options: OperatorRpcOptions): Pick<OperatorRpc, 'invite' | 'reset'> {
  const { store } = options;
  return {
    async invite({ workspace, member }) {
      const { id: workspaceId } = await findWorkspace(store, workspace);
      const scope = scopeOf(workspaceId);
      const { id, name } = await findMember(store, scope, member);
      const membership = await findMembership.one(store, scope, { id });
      if (!membership) throw new ApiError('not_found');
      if (membership.joined_at !== null)
        throw new ApiError(
          'conflict',
          `${name} has joined already. To replace a lost password, run: tatami members reset <address>`,
        );
      const { url, expiresAt, op } = newInvitation(options, scope, {
        member: { id, role: membership.role, email: membership.email },
        by: 'The server administrator',
      });
      await store.commit([op]);
      return { workspaceId, member: { id, name }, url, expiresAt: isoTime(expiresAt) };
    },
    async reset({ email: reference, codesOff = false }) {
      const account = await findAccount(store, reference);
      const { url, expiresAt, op } = newReset(options, account, false);
      await store.commit([op, ...(codesOff ? turnOffOps(account.id) : [])]);
      return { email: account.email, url, expiresAt: isoTime(expiresAt) };
    },
  };
}

/** @param reference address or id. @throws ApiError not_found, also if several accounts have the address and none has verified it */
async function findAccount(store: Store, reference: string): Promise<Account> {
  const byId = reference.startsWith('acc_') ? await accountById(store, reference) : null;
  const [first, ...others] = byId ? [byId] : await accountsByEmail(store, reference);
  if (!first)
    throw new ApiError(
      'not_found',
      `No account has the address ${reference}. To invite a person without an account, run \`tatami members invite <member> --data-dir <dir>\`.`,
    );
  if (first.isProven || others.length === 0) return first;
  const displayed = await Promise.all(
    [first, ...others].map(async ({ id }) => `${id} (${(await workspaceNamesOf(store, id)).join(', ')})`),
  );
  throw new ApiError(
    'not_found',
    `Several accounts have the address ${reference}, and none has confirmed it. Give the id of the account: ${displayed.join('; ')}.`,
  );
}

export function createOperatorRpc(options: OperatorRpcOptions): OperatorRpc {
  return { ...createKeyRpc(options), ...createMemberRpc(options) };
}
