// What runs, approved proposals and undos changed, kept with what it was before: in the batch that changes it, so that there is no
// change of theirs without it. docs/decisions/0063.
import type { Change, Entity } from '../../changes/change.ts';
import type { Cause } from '../../events/origin.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../store/store.ts';

/** One change of an object. */
export interface KeptChange {
  readonly kind: string;
  readonly id: string;
  readonly before: Entity | null;
  readonly after: Entity;
  /** Why it was made. */
  readonly cause: Cause;
}

export const keyOf = ({ kind, id }: Pick<KeptChange, 'kind' | 'id'>): string => `${kind} ${id}`;

export interface KeptRow {
  readonly id: string;
  readonly install_id: string | null;
  readonly created_at: number;
  readonly undone_by: string | null;
  readonly undid_json: string | null;
  readonly kinds_json: string;
}

/** Whose doing it was, and why. */
export interface KeptOf {
  /** Null of an undo. */
  readonly installId: string | null;
  readonly cause: Cause;
  readonly nowMs: number;
  /** Of an undo: the ids of what it takes back. */
  readonly undid?: readonly string[];
}

const level = 1;
/**
 * What an undo leaves alone: an announcement writes no object, a proposal is undone by itself once it is approved, and what told
 * people of it has been read.
 */
const leftAlone: ReadonlySet<string> = new Set(['announcement', 'proposal', 'inbox_item']);

const columns = 'id, install_id, created_at, undone_by, undid_json, kinds_json';
const keep = tenantStatement(
  'kept_changes.keep',
  `INSERT INTO kept_changes (workspace_id, id, install_id, created_at, undid_json, kinds_json, changes)
   VALUES (:ws, :id, :installId, :now, :undid, :kinds, :changes)`,
);
const mark = tenantStatement(
  'kept_changes.mark_undone',
  'UPDATE kept_changes SET undone_by = :by WHERE workspace_id = :ws AND id = :id AND undone_by IS :was',
);
const byIds = tenantStatement<KeptRow>(
  'kept_changes.find',
  `SELECT ${columns} FROM kept_changes WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))`,
);
const changesOf = tenantStatement<{ changes: Uint8Array | ArrayBuffer }>(
  'kept_changes.read',
  'SELECT changes FROM kept_changes WHERE workspace_id = :ws AND id = :id',
);
const ofInstall = tenantStatement<KeptRow>(
  'kept_changes.of_install',
  `SELECT ${columns} FROM kept_changes INDEXED BY kept_changes_install WHERE workspace_id = :ws AND install_id = :installId
     AND created_at >= :since AND created_at < :until AND undone_by IS NULL ORDER BY created_at DESC, id DESC LIMIT :limit`,
);

/** What a plugin remembers is its own, and rows without events are the machinery's. */
const isKept = ({ kind, isSilent }: Change): boolean => !isSilent && !leftAlone.has(kind);

/**
 * Keeps changes for the undo of what makes them: to be put into the batch that commits them. None where nothing is to be kept.
 * @param id of the run, the proposal or the undo
 */
export function keepChangesOps(scope: Scope, id: string, changes: readonly Change[], of: KeptOf): Op[] {
  const kept = changes.filter(isKept);
  if (kept.length === 0) return [];
  return [
    tenantOp(scope, keep, {
      id,
      installId: of.installId,
      now: of.nowMs,
      undid: of.undid ? JSON.stringify(of.undid) : null,
      kinds: JSON.stringify([...new Set(kept.map(({ kind }) => kind))]),
      changes: packed(kept.map((change) => ({ ...change, cause: change.cause ?? of.cause }))),
    }),
  ];
}

/** Fails the batch where another undo was faster. */
export function markOp(scope: Scope, id: string, was: string | null, by: string | null): Op {
  return tenantOp(scope, mark, { id, was, by }, { expectRows: 1 });
}

export function keptOf(store: Store, scope: Scope, ids: readonly string[]): Promise<KeptRow[]> {
  return store.read(scope, byIds, { ids: JSON.stringify(ids) });
}

/** Those of an install that stand, made from one moment to before another, newest first. */
export function keptOfInstall(
  store: Store,
  scope: Scope,
  of: {
    readonly installId: string;
    readonly since: number;
    readonly until: number;
    readonly limit: number;
  },
): Promise<KeptRow[]> {
  return store.read(scope, ofInstall, { ...of });
}

/** In the order in which they were made. */
export async function readChanges(store: Store, scope: Scope, id: string): Promise<KeptChange[]> {
  const row = await store.readOne(scope, changesOf, { id });
  return row ? unpacked(row.changes) : [];
}

/** Those that are left once some are taken out. @param kept as a row has them */
export function withoutChanges(
  kept: Uint8Array | ArrayBuffer,
  isGone: (change: KeptChange) => boolean,
): Uint8Array {
  return packed(unpacked(kept).filter((change) => !isGone(change)));
}

function packed(changes: readonly KeptChange[]): Uint8Array {
  const causes: Cause[] = [];
  const listed = changes.map(({ kind, id, before, after, cause }) => {
    if (!causes.includes(cause)) causes.push(cause);
    return [kind, id, before, after, causes.indexOf(cause)];
  });
  return Bun.zstdCompressSync(Buffer.from(JSON.stringify({ causes, changes: listed })), { level });
}

function unpacked(kept: Uint8Array | ArrayBuffer): KeptChange[] {
  const { causes, changes } = JSON.parse(Bun.zstdDecompressSync(kept).toString()) as {
    causes: Cause[];
    changes: [kind: string, id: string, before: Entity | null, after: Entity, cause: number][];
  };
  return changes.map(([kind, id, before, after, cause]) => ({
    kind,
    id,
    before,
    after,
    cause: causes[cause]!,
  }));
}
