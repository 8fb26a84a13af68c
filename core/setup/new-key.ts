// Mints a key for an owner of a workspace without being asked by one. Not an API operation: whoever can run it owns the data directory.
import { systemAuthor } from '../changes/commit.ts';
import { newKey } from '../identity/api-keys/kind.ts';
import { allScopes } from '../rights/scopes.ts';
import { emptyDirectory } from '../resource/directory.ts';
import { systemStatement, tenantStatement } from '../store/statement.ts';
import { scopeOf, type Store } from '../store/store.ts';
import type { Offline } from './offline.ts';

const listWorkspaces = systemStatement<{ id: string; name: string }>(
  'workspaces.of_operator',
  'who owns the data directory is told which workspaces it holds',
  'SELECT id, name FROM workspaces ORDER BY created_at LIMIT 100',
);
const firstOwner = tenantStatement<{ id: string }>(
  'members.first_owner',
  `SELECT id FROM members WHERE workspace_id = :ws AND role = 'owner' AND deleted_at IS NULL ORDER BY created_at LIMIT 1`,
);

/** All that a key can be given. */
export const keyScopes: readonly string[] = allScopes;

/** The first 100, oldest first. */
export function workspacesOf(store: Store): Promise<{ id: string; name: string }[]> {
  return store.readSystem(listWorkspaces);
}

/** @returns null where the workspace has no owner, or is none */
export async function mintOwnerKey(
  { store, ids, committer }: Offline,
  nowMs: () => number,
  key: { readonly workspaceId: string; readonly name: string; readonly scopes: readonly string[] },
): Promise<{ id: string; text: string } | null> {
  const scope = scopeOf(key.workspaceId);
  const owner = await store.readOne(scope, firstOwner);
  if (!owner) return null;
  const { name, scopes } = key;
  const { change, text } = newKey({ ids, nowMs }, { name, scopes, memberId: owner.id, expiresAt: null });
  const committed = await committer.commit(systemAuthor(scope, 'setup', emptyDirectory), [change]);
  if (!committed.ok) throw new Error(`The key could not be made: ${committed.message}`);
  return { id: change.id, text };
}
