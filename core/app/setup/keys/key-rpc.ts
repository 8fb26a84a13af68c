// Operator API for keys: create, list, roll and revoke without authentication. Access to the data directory already implies access to all
// its data.
import { systemAuthor, type Committer } from '../../../kernel/changes/commit.ts';
import type { Change } from '../../../kernel/changes/change.ts';
import type { Delegation } from '../../../kernel/changes/delegation.ts';
import type { Directory } from '../../../kernel/context.ts';
import {
  afterRevocation,
  apiKeyModel,
  newKey,
  type ApiKey,
  rollKey,
} from '../../../features/api-keys/index.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { Ids } from '../../../platform/lib/ids.ts';
import { allScopes } from '../../../kernel/rights/table.ts';
import { tenantStatement, type SqlRow } from '../../../platform/store/statement.ts';
import { scopeOf, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import { findKey, findMember, findWorkspace, workspacesOf } from './find.ts';
import type { KeyRpc, ListedKey } from './rpc-schemas.ts';

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

export function createKeyRpc(options: OperatorRpcOptions): KeyRpc {
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
  return { workspaceId, ...apiKeyModel.wire(key, { directory, baseUrl }) };
}
