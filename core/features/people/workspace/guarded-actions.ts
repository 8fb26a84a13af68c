// Guarded action classes of a workspace, read when a grant is created and on each write of an agent.
import type { GuardedClass } from '../../../platform/lib/guarded-classes.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';

const read = tenantStatement<{ guarded_json: string }>(
  'workspaces.guarded',
  'SELECT guarded_json FROM workspaces WHERE workspace_id = :ws',
);

export async function guardedIn(store: Store, scope: Scope): Promise<readonly GuardedClass[]> {
  const row = await store.readOne(scope, read, {});
  return row ? (JSON.parse(row.guarded_json) as GuardedClass[]) : [];
}
