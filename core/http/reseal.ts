// The answers that are kept sealed, because they show a secret once, under another master key.
import type { Sealing } from '../lib/sealing.ts';
import { systemStatement } from '../store/statement.ts';
import { systemOp, type Op, type Store } from '../store/store.ts';
import { purposeOf } from './idempotency.ts';

const why = 'the master key is that of all workspaces';
const all = systemStatement<{ workspace_id: string; id: string; body: Uint8Array }>(
  'idempotency.sealed',
  why,
  'SELECT workspace_id, id, body FROM idempotency WHERE sealed = 1',
);
const reseal = systemStatement(
  'idempotency.reseal',
  why,
  'UPDATE idempotency SET body = :body WHERE workspace_id = :workspaceId AND id = :id',
);

/** @throws Error where one does not open with `from` */
export async function resealAnswers(store: Store, from: Sealing, to: Sealing): Promise<Op[]> {
  const rows = await store.readSystem(all);
  return rows.map(({ workspace_id: workspaceId, id, body }) => {
    const purpose = purposeOf(workspaceId, id);
    const resealed = to.seal(from.open(new Uint8Array(body), purpose), purpose);
    return systemOp(reseal, { workspaceId, id, body: resealed }, { expectRows: 1 });
  });
}
