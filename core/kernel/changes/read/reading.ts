// Records reads of one entity in the read set of a plugin run: rows by version, names that no object has, lists.
import type { Context } from '../../context.ts';
import type { Condition } from '../../../platform/store/page.ts';
import type { SqlRow } from '../../../platform/store/statement.ts';
import type { Entity } from '../change.ts';
import { asReadStatement, type ReadSet } from './reads.ts';

export interface Reading {
  /** Records a lookup by id, with or without a result. */
  note<E extends Entity>(ctx: Context, id: string, found: E | undefined): E | undefined;
  /** Records a lookup by alias. If no object was found, every later change of any object of the entity is a conflict. */
  noteByName(ctx: Context, found: Entity | undefined): void;
  noteMany(ctx: Context, ids: readonly string[], found: readonly Entity[]): void;
  noteList(reads: ReadSet, rows: readonly SqlRow[], where: readonly Condition[]): void;
}

export function readingOf(name: string, table: string): Reading {
  const asRead = asReadStatement(table);
  const note: Reading['note'] = (ctx, id, found) => {
    ctx.staged?.reads?.row(asRead, name, id, found?.version ?? null);
    return found;
  };
  return {
    note,
    noteByName(ctx, found) {
      if (found) note(ctx, found.id, found);
      else ctx.staged?.reads?.kind(name);
    },
    noteMany(ctx, ids, found) {
      if (!ctx.staged?.reads) return;
      const byId = new Map(found.map((entity) => [entity.id, entity]));
      for (const id of ids) note(ctx, id, byId.get(id));
    },
    noteList(reads, rows, where) {
      for (const { id, version } of rows) reads.row(asRead, name, String(id), Number(version));
      reads.list(name, table, where);
    },
  };
}
