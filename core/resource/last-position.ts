// The position behind all others of a list, for what is created without one. The resource says by `placedIn` which order it is placed in.
import type { Entity } from '../changes/change.ts';
import type { Context } from '../context.ts';
import { snake } from '../lib/words.ts';
import { tenantStatement } from '../store/statement.ts';

interface List {
  /** Name of the kind of its objects. */
  readonly kind: string;
  readonly table: string;
  /** The field that says whose list it is; null for one list of the workspace. */
  readonly owner: string | null;
  /** Once it is taken, further objects share it, in the order of their creation. */
  readonly max: number;
}

/** @returns the position, by the id of the owner */
export function lastPositionIn({ kind, table, owner, max }: List) {
  const ofOwner = owner === null ? '' : `AND ${snake(owner)} = :owner`;
  const last = tenantStatement<{ position: number | null }>(
    `${table}.last_position`,
    `SELECT max(position) AS position FROM ${table} WHERE workspace_id = :ws ${ofOwner} AND deleted_at IS NULL`,
  );
  return async ({ store, scope, staged }: Context, ownerId: string): Promise<number> => {
    const found = await store.readOne(scope, last, owner === null ? {} : { owner: ownerId });
    const own = (staged?.changes ?? [])
      .filter((change) => change.kind === kind)
      .map(({ after }) => after as Entity & Readonly<Record<string, unknown>>)
      .filter((after) => after.deletedAt === null && (owner === null || after[owner] === ownerId))
      .map(({ position }) => Number(position));
    return Math.min(Math.floor(Math.max(-1, found?.position ?? -1, ...own)) + 1, max);
  };
}
