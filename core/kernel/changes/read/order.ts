// Guards orders in which objects are placed by their neighbors (cards of a board, sub-issues, positions). A plan reads the version of the
// order before any neighbor, and its batch commits only at that version, so that places are computed one after the other.
import type { Context } from '../../context.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import type { Change, OrderVersion } from '../change.ts';

const versionOf = tenantStatement<{ version: number }>(
  'order_versions.read',
  'SELECT version FROM order_versions WHERE workspace_id = :ws AND id = :id',
);
/** Changes no row if an object was placed in the order after the version was read. */
const advance = tenantStatement(
  'order_versions.advance',
  `INSERT INTO order_versions (workspace_id, id, version) VALUES (:ws, :id, :version + 1)
   ON CONFLICT (workspace_id, id) DO UPDATE SET version = version + 1 WHERE version = :version`,
);

/**
 * Must be called before the neighbors are read. Within a run, returns the version read for its first
 * placement.
 */
export async function readOrder({ store, scope, staged }: Context, id: string): Promise<OrderVersion> {
  const known = staged?.changes.find(({ order }) => order?.id === id)?.order;
  if (known) return known;
  return { id, version: (await store.readOne(scope, versionOf, { id }))?.version ?? 0 };
}

/** Returns one op for each order of a batch, however many changes place something in it. */
export function orderOps(scope: Scope, changes: readonly Change[]): Op[] {
  const orders = new Map<string, OrderVersion>();
  for (const { order } of changes) if (order && !orders.has(order.id)) orders.set(order.id, order);
  return [...orders.values()].map(({ id, version }) =>
    tenantOp(scope, advance, { id, version }, { expectRows: 1 }),
  );
}
