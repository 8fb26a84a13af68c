// Feeds the full-text index from the log. Events carry the texts; the texts of a restored issue's comments are read. What
// follows from several events is planned as one difference, so that each text is written once, and all words in one
// statement.
import type { Projection } from '../../kernel/events/consumers/projections.ts';
import type { EventRow } from '../../kernel/events/event.ts';
import { systemOp, tenantOp, type Op, type Scope, type Store } from '../../platform/store/store.ts';
import { systemStatement, tenantStatement } from '../../platform/store/statement.ts';
import { indexed, markOf, textMax } from './words.ts';

/** Maximum time in milliseconds that tokenizing may block the event loop. */
const sliceMs = 4;

interface IndexedText {
  readonly id: string;
  readonly issueId: string;
  /** Null if the team of the issue has to be read. */
  readonly teamId: string | null;
  readonly title: string;
  readonly description: string;
  readonly comment: string;
}

/** Difference between the index and the log after some events. */
interface Difference {
  /** Texts to index, by id. */
  readonly added: Map<string, IndexedText>;
  /** Ids of texts that may be indexed, with those of their issues. */
  readonly dropped: Map<string, string>;
  /** Ids of issues of which no text stays in the index. */
  readonly droppedIssues: Set<string>;
  /** New teams of issues, by id. */
  readonly moved: Map<string, string>;
}

interface IssueData {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly team: { readonly id: string };
  readonly deletedAt: string | null;
  readonly previous?: Partial<IssueData>;
}

interface CommentData {
  readonly id: string;
  readonly issue: { readonly id: string };
  readonly body: string;
  readonly deletedAt: string | null;
  readonly previous?: Partial<CommentData>;
}

/** Every change to an issue emits one of these events before any more specific one. */
const ofIssues = new Set([
  'issue.created',
  'issue.updated',
  'issue.deleted',
  'issue.restored',
  'issue.purged',
]);
const ofComments = new Set([
  ...['comment.added', 'comment.updated', 'comment.deleted', 'comment.restored'],
  ...['comment.resolved', 'comment.unresolved'],
]);

function forgetIssue(to: Difference, issueId: string): void {
  for (const [id, text] of to.added) if (text.issueId === issueId) to.added.delete(id);
  to.moved.delete(issueId);
  to.droppedIssues.add(issueId);
}

function addIssue({ added }: Difference, { id, title, description, team }: IssueData): void {
  added.set(id, { id, issueId: id, teamId: team.id, title, description, comment: '' });
}

function moveIssue({ added, moved }: Difference, { id: issueId, team }: IssueData): void {
  moved.set(issueId, team.id);
  for (const [id, text] of added) if (text.issueId === issueId) added.set(id, { ...text, teamId: team.id });
}

function followIssue(to: Difference, comments: CommentsOf, { type, entityId, data }: EventRow): void {
  const issue = data as object as IssueData;
  if (type === 'issue.purged' || issue.deletedAt !== null) return forgetIssue(to, entityId);
  if (type === 'issue.restored') {
    forgetIssue(to, entityId);
    addIssue(to, issue);
    for (const { id, body } of comments.get(entityId) ?? [])
      to.added.set(id, {
        id,
        issueId: entityId,
        teamId: issue.team.id,
        title: '',
        description: '',
        comment: body,
      });
    return;
  }
  const { previous = {} } = issue;
  if (previous.team !== undefined) moveIssue(to, issue);
  const isNew = type === 'issue.created';
  if (!isNew && previous.title === undefined && previous.description === undefined) return;
  if (!isNew) to.dropped.set(entityId, entityId);
  addIssue(to, issue);
}

function followComment(to: Difference, { type, entityId, data }: EventRow): void {
  const { issue, body, deletedAt, previous = {} } = data as object as CommentData;
  const isSame = previous.body === undefined && previous.deletedAt === undefined;
  if (type !== 'comment.added' && isSame) return;
  to.dropped.set(entityId, issue.id);
  to.added.delete(entityId);
  if (deletedAt !== null) return;
  const teamId = to.added.get(issue.id)?.teamId ?? null;
  to.added.set(entityId, {
    id: entityId,
    issueId: issue.id,
    teamId,
    title: '',
    description: '',
    comment: body,
  });
}

const commentsOfIssue = tenantStatement<{ id: string; body: string }>(
  'search_documents.read_comments',
  `SELECT id, substr(body, 1, ${textMax}) AS body FROM comments INDEXED BY comments_issue
   WHERE workspace_id = :ws AND issue_id = :issueId AND deleted_at IS NULL`,
);
const teamsOfIssues = tenantStatement<{ id: string; team_id: string }>(
  'search_documents.read_teams',
  `SELECT id, team_id FROM issues
   WHERE workspace_id = :ws AND deleted_at IS NULL AND id IN (SELECT value FROM json_each(:ids))`,
);

/** Comments of restored issues, by issue. */
type CommentsOf = ReadonlyMap<string, readonly { readonly id: string; readonly body: string }[]>;

async function readComments(store: Store, scope: Scope, events: readonly EventRow[]): Promise<CommentsOf> {
  const comments = new Map<string, { id: string; body: string }[]>();
  for (const { type, entityId } of events)
    if (type === 'issue.restored')
      comments.set(entityId, await store.read(scope, commentsOfIssue, { issueId: entityId }));
  return comments;
}

const ofTexts = (of: string): string => `${of}issue_id = t.value->>0 AND ${of}id = t.value->>1`;
const dropWords = tenantStatement(
  'search_index.drop',
  `DELETE FROM search_index WHERE rowid IN (SELECT d.doc FROM json_each(:texts) AS t
   CROSS JOIN search_documents AS d ON d.workspace_id = :ws AND ${ofTexts('d.')})`,
);
const dropDocuments = tenantStatement(
  'search_documents.drop',
  `DELETE FROM search_documents WHERE workspace_id = :ws
   AND (issue_id, id) IN (SELECT value->>0, value->>1 FROM json_each(:texts))`,
);
const dropWordsOfIssues = tenantStatement(
  'search_index.drop_issues',
  `DELETE FROM search_index WHERE rowid IN (SELECT d.doc FROM json_each(:issues) AS t
   CROSS JOIN search_documents AS d ON d.workspace_id = :ws AND d.issue_id = t.value)`,
);
const dropDocumentsOfIssues = tenantStatement(
  'search_documents.drop_issues',
  `DELETE FROM search_documents WHERE workspace_id = :ws AND issue_id IN (SELECT value FROM json_each(:issues))`,
);
const moveDocuments = tenantStatement(
  'search_documents.move',
  'UPDATE search_documents SET team_id = :teamId WHERE workspace_id = :ws AND issue_id = :issueId',
);
const addWords = systemStatement(
  'search_index.add',
  'each word has the prefix of its workspace, and the same batch writes the rows with the workspace',
  `INSERT INTO search_index (title, description, comment)
   SELECT value->>0, value->>1, value->>2 FROM json_each(:words)`,
);
/** Must follow `addWords` in the batch, whose rows have consecutive numbers that end with the last rowid. */
const addDocuments = tenantStatement(
  'search_documents.add',
  `INSERT INTO search_documents (workspace_id, issue_id, id, doc, team_id)
   SELECT :ws, value->>0, value->>1, last_insert_rowid() - :count + 1 + key, value->>2 FROM json_each(:documents)`,
);

export const indexing: Projection = {
  name: 'search',
  subscribesTo: (type) => ofIssues.has(type) || ofComments.has(type),
  async project(store, scope, events) {
    const to: Difference = {
      added: new Map(),
      dropped: new Map(),
      droppedIssues: new Set(),
      moved: new Map(),
    };
    const comments = await readComments(store, scope, events);
    for (const event of events)
      if (ofIssues.has(event.type)) followIssue(to, comments, event);
      else followComment(to, event);
    return [...dropOps(scope, to), ...(await addOps(store, scope, [...to.added.values()]))];
  },
};

function dropOps(scope: Scope, { dropped, droppedIssues, moved }: Difference): Op[] {
  const ops: Op[] = [];
  if (dropped.size > 0) {
    const texts = JSON.stringify([...dropped].map(([id, issueId]) => [issueId, id]));
    ops.push(tenantOp(scope, dropWords, { texts }), tenantOp(scope, dropDocuments, { texts }));
  }
  if (droppedIssues.size > 0) {
    const issues = JSON.stringify([...droppedIssues]);
    ops.push(
      tenantOp(scope, dropWordsOfIssues, { issues }),
      tenantOp(scope, dropDocumentsOfIssues, { issues }),
    );
  }
  for (const [issueId, teamId] of moved) ops.push(tenantOp(scope, moveDocuments, { issueId, teamId }));
  return ops;
}

async function addOps(store: Store, scope: Scope, texts: readonly IndexedText[]): Promise<Op[]> {
  const teams = await teamsOf(store, scope, texts);
  const mark = markOf(scope.workspaceId);
  const words: [string, string, string][] = [];
  const documents: [string, string, string][] = [];
  let sinceMs = performance.now();
  for (const { id, issueId, teamId, title, description, comment } of texts) {
    const team = teamId ?? teams.get(issueId);
    // The issue was deleted in the meantime; if it is restored later, its comments are indexed again.
    if (team === undefined) continue;
    words.push([indexed(mark, title), indexed(mark, description), indexed(mark, comment)]);
    documents.push([issueId, id, team]);
    if (performance.now() - sinceMs <= sliceMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sinceMs = performance.now();
  }
  if (words.length === 0) return [];
  return [
    systemOp(addWords, { words: JSON.stringify(words) }),
    tenantOp(scope, addDocuments, { documents: JSON.stringify(documents), count: documents.length }),
  ];
}

/** Returns the teams of issues whose comments are indexed; deleted issues are missing. */
async function teamsOf(
  store: Store,
  scope: Scope,
  texts: readonly IndexedText[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(texts.flatMap(({ issueId, teamId }) => (teamId === null ? [issueId] : [])))];
  if (ids.length === 0) return new Map();
  const rows = await store.read(scope, teamsOfIssues, { ids: JSON.stringify(ids) });
  return new Map(rows.map((row) => [row.id, row.team_id]));
}
