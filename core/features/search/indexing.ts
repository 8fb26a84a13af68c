// Indexes pending texts in batches: in the background soon after a change, and immediately before a search
// that would miss them. Concurrent indexing of a text is resolved by the revision of its pending row: one
// batch succeeds, the other is repeated.
import {
  backgroundCommitDelayMs,
  systemOp,
  tenantOp,
  type Op,
  type Scope,
  type Store,
  scopeOf,
} from '../../platform/store/store.ts';
import { systemStatement, tenantStatement } from '../../platform/store/statement.ts';
import { indexed, markOf, textMax } from './words.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { comment } from '../comments/contract.ts';
import { issue } from '../issues/contract.ts';
import type { WorkerDeps, BackgroundWorker } from '../../kernel/feature.ts';
import { searchDocumentTable, searchPendingTable } from './tables.ts';

/** Maximum number of texts per commit, so that other writes wait only some milliseconds. */
const textsAtOnce = 64;
/** Maximum time in milliseconds that tokenizing may block the event loop. */
const sliceMs = 4;

const readPending = searchPendingTable.select(
  'read',
  ['id', 'revision'],
  [],
  `ORDER BY id LIMIT ${textsAtOnce}`,
);

interface IndexedText {
  readonly id: string;
  readonly issue_id: string;
  readonly team_id: string;
  readonly title: string;
  readonly description: string;
  readonly comment: string;
}
const readTexts = tenantStatement<IndexedText>(
  'search_documents.read_texts',
  `SELECT id, id AS issue_id, team_id, title, substr(description, 1, ${textMax}) AS description, '' AS comment FROM issues
   WHERE workspace_id = :ws AND deleted_at IS NULL AND id IN (SELECT value FROM json_each(:ids))
   UNION ALL
   SELECT c.id, i.id, i.team_id, '', '', c.body FROM comments AS c JOIN issues AS i ON i.workspace_id = :ws AND i.id = c.issue_id
   WHERE c.workspace_id = :ws AND c.deleted_at IS NULL AND i.deleted_at IS NULL AND c.id IN (SELECT value FROM json_each(:ids))`,
);
const readDocuments = tenantStatement<{ id: string }>(
  'search_documents.read',
  'SELECT id FROM search_documents WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))',
);

const settle = searchPendingTable.remove('settle', ['id', 'revision']);
const dropWords = tenantStatement(
  'search_index.drop',
  'DELETE FROM search_index WHERE rowid = (SELECT doc FROM search_documents WHERE workspace_id = :ws AND id = :id)',
);
const dropDocument = searchDocumentTable.remove('drop', ['id']);
const addWords = systemStatement(
  'search_index.add',
  'each word has the prefix of its workspace, and the same batch writes the row with the workspace',
  'INSERT INTO search_index (title, description, comment) VALUES (:title, :description, :comment)',
);
/** Must follow `addWords` in the batch, since it uses the last rowid. */
const addDocument = tenantStatement(
  'search_documents.add',
  `INSERT INTO search_documents (workspace_id, id, doc, issue_id, team_id)
   VALUES (:ws, :id, last_insert_rowid(), :issueId, :teamId)`,
);

/**
 * Indexes a batch of pending texts of a workspace.
 * @returns true if more may be pending
 * @throws StoreError
 */
export async function indexSome(store: Store, scope: Scope, isAwaited: boolean): Promise<boolean> {
  const pending = await readPending.all(store, scope, {});
  if (pending.length === 0) return false;
  const ids = JSON.stringify(pending.map(({ id }) => id));
  const [texts, documents] = await Promise.all([
    store.read(scope, readTexts, { ids }),
    store.read(scope, readDocuments, { ids }),
  ]);
  const textOf = new Map(texts.map((text) => [text.id, text]));
  const known = new Set(documents.map(({ id }) => id));
  const mark = markOf(scope.workspaceId);
  const ops: Op[] = [];
  let sinceMs = performance.now();
  for (const { id, revision } of pending) {
    ops.push(settle(scope, { id, revision }, { expectRows: 1 }));
    if (known.has(id)) ops.push(tenantOp(scope, dropWords, { id }), dropDocument(scope, { id }));
    const text = textOf.get(id);
    if (text) ops.push(...wordsOf(scope, mark, text));
    if (performance.now() - sinceMs <= sliceMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sinceMs = performance.now();
  }
  const outcome = await store.commit(ops, isAwaited ? {} : { commitDelayMs: backgroundCommitDelayMs });
  if (!outcome.ok && outcome.reason !== 'lost_race')
    throw new Error(`Texts could not be indexed: ${outcome.message}`);
  return !outcome.ok || pending.length === textsAtOnce;
}

function wordsOf(scope: Scope, mark: string, text: IndexedText): Op[] {
  const { id, issue_id: issueId, team_id: teamId } = text;
  const words = {
    title: indexed(mark, text.title),
    description: indexed(mark, text.description),
    comment: indexed(mark, text.comment),
  };
  return [systemOp(addWords, words), tenantOp(scope, addDocument, { id, issueId, teamId })];
}

/** Delay after a change. */
const soonMs = 300;
/** Delay after a failure. */
const againMs = 5_000;

const waiting = systemStatement<{ workspace_id: string }>(
  'search_pending.workspaces',
  'at start, texts of all workspaces may wait to be indexed',
  `SELECT w.workspace_id FROM workspaces AS w
   WHERE EXISTS (SELECT 1 FROM search_pending AS p WHERE p.workspace_id = w.workspace_id)`,
);

/**
 * Indexes changes in the background: shortly after a change, so that many changes share a commit, and at start for
 * texts left by an earlier process or an upgrade.
 */
export function createIndexing({ services, committer, clock }: WorkerDeps): BackgroundWorker {
  const { store, log } = services;
  const workspaces = new Set<string>();
  let cancel: (() => void) | null = null;
  let working: Promise<void> | null = null;
  let isStopped = false;

  /**
   * Indexes one batch of each workspace in turn. Changes that arrive in the meantime are scheduled
   * separately.
   */
  const work = async (ids: Set<string>): Promise<void> => {
    while (ids.size > 0)
      for (const id of ids) {
        if (isStopped) return;
        if (!(await indexSome(store, scopeOf(id), false))) ids.delete(id);
        await new Promise((resolve) => setImmediate(resolve));
      }
  };

  const begin = (): void => {
    cancel = null;
    const ids = new Set(workspaces);
    workspaces.clear();
    let nextMs = soonMs;
    working = work(ids)
      .catch((error: unknown) => {
        if (isStopped) return;
        log('warn', 'texts could not be indexed for search', { error: errorForLog(error) });
        for (const id of ids) workspaces.add(id);
        nextMs = againMs;
      })
      .finally(() => {
        working = null;
        if (workspaces.size > 0) schedule(nextMs);
      });
  };

  const schedule = (afterMs: number): void => {
    if (!isStopped && !cancel && !working) cancel = clock.after(afterMs, begin);
  };

  committer.onCommit((workspaceId, changes) => {
    if (!changes.some(({ kind }) => kind === issue.name || kind === comment.name)) return;
    workspaces.add(workspaceId);
    schedule(soonMs);
  });

  return {
    async start() {
      for (const { workspace_id: id } of await store.readSystem(waiting)) workspaces.add(id);
      if (workspaces.size > 0) schedule(soonMs);
    },
    async settled() {
      await working;
    },
    async stop() {
      isStopped = true;
      cancel?.();
      await working;
    },
  };
}
