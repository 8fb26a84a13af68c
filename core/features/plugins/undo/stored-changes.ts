// Stores the changes of runs, approved proposals and undos with their previous values, in the batch that commits them, so that every such
// change can be undone. docs/decisions/0063.
import type { Change } from '../../../kernel/changes/change.ts';
import type { Cause } from '../../../kernel/events/event.ts';
import type { RowOf } from '../../../kernel/table/define.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import { storedChangeTable } from '../tables.ts';
import { packChanges, unpackChanges, type StoredChange } from './packed-changes.ts';

const columns = ['id', 'install_id', 'created_at', 'undone_by', 'undid_json', 'entities_json'] as const;
export type StoredChangesRow = Pick<RowOf<typeof storedChangeTable>, (typeof columns)[number]>;

export interface StoredChangesOrigin {
  /** Null for an undo, and for a proposal that no plugin made. */
  readonly installId: string | null;
  readonly cause: Cause;
  readonly nowMs: number;
  /** Ids of the reverted runs, proposals and undos; set only for an undo. */
  readonly undid?: readonly string[];
}

/**
 * Entities that are not stored for undo: an announcement writes no object, an approved proposal has a
 * separate undo, and a notification has already been read.
 */
const leftAlone: ReadonlySet<string> = new Set(['announcement', 'proposal', 'inbox_item']);

const insertChanges = storedChangeTable.insert('insert', [
  'id',
  'install_id',
  'created_at',
  'undid_json',
  'entities_json',
  'changes',
]);
const changesOf = storedChangeTable.select('read', ['changes'], ['id']);
const mark = tenantStatement(
  'stored_changes.mark_undone',
  'UPDATE stored_changes SET undone_by = :by WHERE workspace_id = :ws AND id = :id AND undone_by IS :was',
);
const byIds = tenantStatement<StoredChangesRow>(
  'stored_changes.find',
  `SELECT ${storedChangeTable.names(...columns)} FROM stored_changes WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))`,
);
const ofInstall = tenantStatement<StoredChangesRow>(
  'stored_changes.of_install',
  `SELECT ${storedChangeTable.names(...columns)} FROM stored_changes INDEXED BY stored_changes_install WHERE workspace_id = :ws AND install_id = :installId
     AND created_at >= :since AND created_at < :until AND undone_by IS NULL ORDER BY created_at DESC, id DESC LIMIT :limit`,
);

/** Excludes stored values of plugins and internal rows, which have no events. */
const isStored = ({ kind, isSilent }: Change): boolean => !isSilent && !leftAlone.has(kind);

/**
 * Returns the ops that store changes for undo, for the batch that commits them; none if no change needs
 * storing.
 * @param id id of the run, proposal or undo
 */
export function storeChangesOps(
  scope: Scope,
  id: string,
  changes: readonly Change[],
  of: StoredChangesOrigin,
): Op[] {
  const stored = changes.filter(isStored);
  if (stored.length === 0) return [];
  return [
    insertChanges(scope, {
      id,
      install_id: of.installId,
      created_at: of.nowMs,
      undid_json: of.undid ? JSON.stringify(of.undid) : null,
      entities_json: JSON.stringify([...new Set(stored.map(({ kind }) => kind))]),
      changes: packChanges(stored.map((change) => ({ ...change, cause: change.cause ?? of.cause }))),
    }),
  ];
}

/** Returns the op that sets `undone_by`. It fails the batch if another undo has changed the mark before. */
export function markOp(scope: Scope, id: string, was: string | null, by: string | null): Op {
  return tenantOp(scope, mark, { id, was, by }, { expectRows: 1 });
}

export function storedChangesOf(
  store: Store,
  scope: Scope,
  ids: readonly string[],
): Promise<StoredChangesRow[]> {
  return store.read(scope, byIds, { ids: JSON.stringify(ids) });
}

/** Returns the rows of an install in a time range that are not undone, newest first. */
export function storedChangesOfInstall(
  store: Store,
  scope: Scope,
  of: {
    readonly installId: string;
    readonly since: number;
    readonly until: number;
    readonly limit: number;
  },
): Promise<StoredChangesRow[]> {
  return store.read(scope, ofInstall, { ...of });
}

/** Returns the changes in the order in which they were made. */
export async function readChanges(store: Store, scope: Scope, id: string): Promise<StoredChange[]> {
  const row = await changesOf.one(store, scope, { id });
  return row ? unpackChanges(row.changes) : [];
}
