// Computes the position at the end of a list, for objects that are created without a position. The list is
// selected by `placedIn` of the resource.
import type { Entity } from '../changes/change.ts';
import type { Context } from '../context.ts';
import { snake } from '../../platform/lib/text/words.ts';
import { tenantStatement } from '../../platform/store/statement.ts';

interface List {
  /** Model name of the objects. */
  readonly kind: string;
  readonly table: string;
  /** Field with the owner of a list; null for one list per workspace. */
  readonly owner: string | null;
  /** Maximum position. Further objects share it, in the order of their creation. */
  readonly max: number;
}

/** @returns a function that returns the position by the id of the owner */
export function lastPositionIn({ kind, table, owner, max }: List) {
  const ofOwner = owner === null ? '' : `AND ${snake(owner)} = :owner`;
  const last = tenantStatement<{ position: number | null }>(
    `${table}.last_position`,
    `SELECT max(position) AS position FROM ${table} WHERE workspace_id = :ws ${ofOwner} AND deleted_at IS NULL`,
  );
  return async ({ store, scope, staged }: Context, ownerId: string): Promise<number> => {
    const row = await store.readOne(scope, last, owner === null ? {} : { owner: ownerId });
    const own = (staged?.changes ?? [])
      .filter((change) => change.kind === kind)
      .map(({ after }) => after as Entity & Readonly<Record<string, unknown>>)
      .filter((after) => after.deletedAt === null && (owner === null || after[owner] === ownerId))
      .map(({ position }) => Number(position));
    return Math.min(Math.floor(Math.max(-1, row?.position ?? -1, ...own)) + 1, max);
  };
}
