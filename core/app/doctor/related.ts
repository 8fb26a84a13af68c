// Compares the labels, relations and attachments of issues with issue events, because there are no separate
// events for them.
import { tables } from '../../features/tables.ts';
import {
  type Data,
  error,
  type Finding,
  idOf,
  type LastEvent,
  type References,
  type RowSubject,
  some,
} from '../../kernel/checks.ts';
import type { Contract } from '../../kernel/contract/contract.ts';
import type { Table } from '../../kernel/table/define.ts';
import type { SqlRow } from '../../platform/store/statement.ts';
import { factsOf } from './facts.ts';
import { type Comparison, type LastEvents, missingFrom, readEvent } from './last-events.ts';

interface LoggedPart extends LastEvent {
  readonly workspaceId: string;
  readonly id: string;
  readonly isThere: boolean;
  /** Issues whose removal also removes the part. */
  readonly issueIds: readonly string[];
}

const keyOf = (workspaceId: unknown, id: unknown): string => `${String(workspaceId)} ${String(id)}`;

/** Compares each object that events of its issue contain with the last of them. */
export function partsOfIssues(
  subject: RowSubject,
  lastEvents: LastEvents,
  references: References,
): Finding[] {
  return tables.flatMap((table) =>
    table.log === 'issue' && table.contract
      ? compareParts(subject, table, table.contract, { lastEvents, references })
      : [],
  );
}

function compareParts(
  subject: RowSubject,
  { name: table }: Table,
  contract: Contract,
  { lastEvents, references }: { readonly lastEvents: LastEvents; readonly references: References },
): Finding[] {
  const { last, isWhole } = lastOfParts(subject, contract.name);
  const facts = factsOf(contract, references);
  const columns = new Set(['workspace_id', 'id', ...facts.flatMap((fact) => fact.columns)]);
  const stored = subject.rows<SqlRow>(`SELECT ${[...columns].join(', ')} FROM ${table}`);
  const differing = stored.filter((row) => {
    const event = last.get(keyOf(row.workspace_id, row.id));
    return event ? facts.some(({ agrees }) => !agrees(row, event)) : isWhole;
  });
  const present = new Set(stored.map((row) => keyOf(row.workspace_id, row.id)));
  const missing = [...last].filter(
    ([key, { workspaceId, isThere, issueIds }]) =>
      isThere &&
      !present.has(key) &&
      !issueIds.some((issueId) => lastEvents.mayBeGone(workspaceId, 'issue', issueId)),
  );
  return [
    ...(differing.length > 0
      ? [
          error(
            `Rows differ from the event log in ${table}: ${some(differing.map(({ id }) => String(id)))}. Restore a backup.`,
          ),
        ]
      : []),
    ...(isWhole
      ? missingFrom(
          table,
          missing.map(([, { id }]) => id),
        )
      : []),
  ];
}

/**
 * Reads the last event of each part: its own data, with the issue of the event as `of` and the time of its removal.
 * `isWhole` is false if an event cannot be read.
 */
function lastOfParts(
  subject: RowSubject,
  name: string,
): { readonly last: ReadonlyMap<string, LoggedPart>; readonly isWhole: boolean } {
  const events = subject.rows<{ workspace_id: string; sequence: number }>(
    `SELECT workspace_id, sequence FROM events WHERE type IN ('issue.${name}_added', 'issue.${name}_removed')
     ORDER BY workspace_id, sequence`,
  );
  const last = new Map<string, LoggedPart>();
  for (const { workspace_id: workspaceId, sequence } of events) {
    const event = readEvent(subject, workspaceId, sequence);
    if (!event) return { last, isWhole: false };
    const part = event.data[name] as Data & { readonly id: string };
    const isThere = event.type.endsWith('_added');
    last.set(keyOf(workspaceId, part.id), {
      type: event.type,
      data: { ...part, of: event.data.id, deletedAt: isThere ? null : (part.updatedAt ?? undefined) },
      workspaceId,
      id: part.id,
      isThere,
      issueIds: [event.data.id, idOf(part.issue)].map(String),
    });
  }
  return { last, isWhole: true };
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
