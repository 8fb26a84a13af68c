// Compares the labels, relations and attachments of issues with issue events, because there are no separate
// events for them.
import {
  type Data,
  error,
  type Finding,
  idOf,
  type LastEvent,
  type RowSubject,
  some,
  timeOf,
} from '../../kernel/checks.ts';
import { type Comparison, type LastEvents, missingFrom, readEvent } from './last-events.ts';

interface RelationRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly from_id: string;
  readonly type: string;
  readonly issue_id: string;
  readonly deleted_at: number | null;
}
type RelationEventData = {
  readonly id: string;
  readonly relation: { readonly id: string; readonly type: string; readonly issue: { readonly id: string } };
};

/** Compares each relation with its last event. */
export function relations(subject: RowSubject, lastEvents: LastEvents): Finding[] {
  const { rows } = subject;
  const events = rows<{ workspace_id: string; sequence: number; type: string }>(
    "SELECT workspace_id, sequence, type FROM events WHERE type LIKE 'issue.relation\\_%' ESCAPE '\\' ORDER BY workspace_id, sequence",
  );
  let isWhole = true;
  const last = new Map<string, LoggedRelation>();
  for (const { workspace_id: workspaceId, sequence, type } of events) {
    const event = readEvent(subject, workspaceId, sequence);
    if (!event) {
      isWhole = false;
      continue;
    }
    const { id, relation } = event.data as RelationEventData;
    const side = [id, relation.type, relation.issue.id].join(' ');
    const known = last.get(`${workspaceId} ${relation.id}`);
    const isThere = type === 'issue.relation_added';
    last.set(`${workspaceId} ${relation.id}`, {
      workspaceId,
      id: relation.id,
      issueIds: [id, relation.issue.id],
      isThere,
      sides: [...(known?.sides ?? []), side],
    });
  }
  const stored = rows<RelationRow>(
    'SELECT workspace_id, id, from_id, type, issue_id, deleted_at FROM relations',
  );
  const differing = stored.filter((row) => {
    const logged = last.get(`${row.workspace_id} ${row.id}`);
    if (!logged) return isWhole;
    const side = [row.from_id, row.type, row.issue_id].join(' ');
    return logged.isThere !== (row.deleted_at === null) || !logged.sides.includes(side);
  });
  return [
    ...differingIn('relations', differing),
    ...(isWhole ? missingIn('relations', { stored, logged: [...last.values()], lastEvents }) : []),
  ];
}

interface LoggedPart {
  readonly workspaceId: string;
  readonly id: string;
  /** False if the last event is its removal. */
  readonly isThere: boolean;
  /** Issues whose removal also removes this object. */
  readonly issueIds: readonly string[];
}
interface LoggedRelation extends LoggedPart {
  readonly sides: readonly string[];
}
type Stored = Readonly<Record<'workspace_id' | 'id', unknown>>;

const differingIn = (table: string, rows: readonly Stored[]): Finding[] =>
  rows.length > 0
    ? [
        error(
          `Rows differ from the event log in ${table}: ${some(rows.map(({ id }) => String(id)))}. Restore a backup.`,
        ),
      ]
    : [];

function missingIn(
  table: string,
  of: { stored: readonly Stored[]; logged: readonly LoggedPart[]; lastEvents: LastEvents },
): Finding[] {
  const { stored, logged, lastEvents } = of;
  const present = new Set(stored.map((row) => `${String(row.workspace_id)} ${String(row.id)}`));
  const missing = logged.filter(
    ({ workspaceId, id, isThere, issueIds }) =>
      isThere &&
      !present.has(`${workspaceId} ${id}`) &&
      !issueIds.some((issueId) => lastEvents.mayBeGone(workspaceId, 'issue', issueId)),
  );
  return missingFrom(
    table,
    missing.map(({ id }) => id),
  );
}

/**
 * Ignores deleted labels: deleted issues retain labels that were deleted later, and other issues retain them
 * for a short time.
 */
export function labelsOf({ rows }: RowSubject): Comparison {
  const deleted = new Set(
    rows<{ id: string }>('SELECT id FROM labels WHERE deleted_at IS NOT NULL').map(({ id }) => id),
  );
  const presentIds = (ids: readonly string[]): string =>
    ids
      .filter((id) => !deleted.has(id))
      .sort()
      .join();
  return {
    kind: 'issue',
    table: 'issue_labels',
    isFurther: true,
    select: `SELECT workspace_id, id, (SELECT group_concat(label_id) FROM issue_labels AS l
         WHERE l.workspace_id = o.workspace_id AND l.issue_id = o.id) AS labels FROM issues AS o`,
    differences({ labels }, { data }) {
      const logged = (data.labels as readonly { id: string }[]).map(({ id }) => id);
      const stored = labels === null || labels === undefined ? [] : String(labels).split(',');
      return presentIds(logged) === presentIds(stored) ? null : [];
    },
  };
}

const attachmentColumns = {
  issue_id: ({ issue }: Data) => idOf(issue),
  kind: ({ kind }: Data) => kind,
  title: ({ title }: Data) => title,
  url: ({ url }: Data) => url,
  content_type: ({ contentType }: Data) => contentType,
  bytes: ({ bytes }: Data) => bytes,
  sha256: ({ sha256 }: Data) => sha256,
  creator_kind: ({ creator }: Data) => (creator as Data).kind,
  creator_id: ({ creator }: Data) => (creator as Data).id,
  creator_name: ({ creator }: Data) => (creator as Data).name,
  version: ({ version }: Data) => version,
  created_at: ({ createdAt }: Data) => timeOf(createdAt),
  updated_at: ({ updatedAt }: Data) => timeOf(updatedAt),
};

/** Compares each attachment with its last event. */
export function attachments(subject: RowSubject, lastEvents: LastEvents): Finding[] {
  const events = subject.rows<{ workspace_id: string; sequence: number }>(
    "SELECT workspace_id, sequence FROM events WHERE type LIKE 'issue.attachment\\_%' ESCAPE '\\' ORDER BY workspace_id, sequence",
  );
  let isWhole = true;
  const last = new Map<string, LastEvent>();
  const logged = new Map<string, LoggedPart>();
  for (const { workspace_id: workspaceId, sequence } of events) {
    const event = readEvent(subject, workspaceId, sequence);
    if (!event) {
      isWhole = false;
      continue;
    }
    const { id } = event.data.attachment as { id: string };
    const isThere = event.type !== 'issue.attachment_removed';
    last.set(`${workspaceId} ${id}`, event);
    logged.set(`${workspaceId} ${id}`, { workspaceId, id, isThere, issueIds: [String(event.data.id)] });
  }
  const columns = ['workspace_id', 'id', 'deleted_at', ...Object.keys(attachmentColumns)];
  const stored = subject.rows<Stored & Record<string, unknown>>(
    `SELECT ${columns.join(', ')} FROM attachments`,
  );
  const differing = stored.filter((row) => {
    const event = last.get(`${String(row.workspace_id)} ${String(row.id)}`);
    if (!event) return isWhole;
    const logged = event.data.attachment as Data;
    const deletedAt = event.type === 'issue.attachment_removed' ? timeOf(logged.updatedAt) : null;
    if (row.deleted_at !== deletedAt) return true;
    return Object.entries(attachmentColumns).some(([column, of]) => row[column] !== of(logged));
  });
  return [
    ...differingIn('attachments', differing),
    ...(isWhole ? missingIn('attachments', { stored, logged: [...logged.values()], lastEvents }) : []),
  ];
}
