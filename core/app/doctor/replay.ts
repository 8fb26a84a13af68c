// Reads the object in an event from the database or the archive.
import { commitAssignedRule } from '../../kernel/events/log/commit-assigned.ts';
import { distanceOf, fileOf, unpack, type StoredParts } from '../../kernel/events/log/packing.ts';
import { contracts, eventsOf } from '../../features/contracts.ts';
import type { SqlRow } from '../../platform/store/statement.ts';
import {
  error,
  some,
  type Finding,
  warning,
  type RowCheck,
  type LastEvent,
  type Data,
  type RowSubject,
  idOf,
  type References,
} from '../../kernel/checks.ts';
import { storedModels } from '../features.ts';
import type { Contract } from '../../kernel/contract/contract.ts';
import { attachments, labelsOf, relations } from './related.ts';
import { factsOf, referencesOf } from './facts.ts';

/** Returns null if the event does not exist or its archive file cannot be read. */
export function readEvent(subject: RowSubject, workspaceId: string, sequence: number): LastEvent | null {
  const [event] = subject.rows<StoredParts & { type: string; entity_kind: string; learned: number | null }>(
    `SELECT type, entity_kind, cause_json, data_json, packed, number AS learned FROM events
     WHERE workspace_id = ?1 AND sequence = ?2`,
    workspaceId,
    sequence,
  );
  if (!event) return null;
  const distance = distanceOf(event);
  const { type, entity_kind: kind, learned } = event;
  if (distance > 0) {
    const same = readEvent(subject, workspaceId, sequence - distance);
    return same && { type, data: same.data };
  }
  const file = fileOf(event);
  const text =
    file === null ? unpack(event).data : (subject.archived?.dataOf(workspaceId, file, sequence) ?? null);
  if (text === null) return null;
  const data = JSON.parse(text) as Data;
  return { type, data: learned === null ? data : commitAssignedRule(kind).complete(data, learned) };
}

export interface LastEvents {
  /** Returns undefined if the log has no event of the object. */
  sequenceOf(workspaceId: string, kind: string, id: string): number | undefined;
  of(kind: string): Iterable<LogObject>;
  /**
   * Returns true unless the log shows that the object, and the issue or comment that it belongs to, still
   * exist.
   */
  mayBeGone(workspaceId: string, kind: string, id: string): boolean;
}

interface LogObject {
  readonly workspaceId: string;
  readonly id: string;
  readonly sequence: number;
}

/** Entities whose rows a purge of their issue removes without separate events. */
const partsOfIssues = ['comment', 'reaction', 'subscriber', 'sla_clock', 'inbox_item'];
/** Event types after which a row may be removed; archived inbox items are removed later like deleted objects. */
const endTypes: ReadonlySet<string> = new Set([
  ...contracts.flatMap(({ events }) => (events.deleted === undefined ? [] : [events.deleted])),
  'issue.purged',
  'inbox.item_archived',
]);

function lastEventsOf(subject: RowSubject): LastEvents {
  const last = new Map<string, Map<string, number>>();
  const all = subject.rows<{ workspace_id: string; entity_kind: string; entity_id: string; last: number }>(
    'SELECT workspace_id, entity_kind, entity_id, max(sequence) AS last FROM events GROUP BY 1, 2, 3',
  );
  for (const { workspace_id: workspaceId, entity_kind: kind, entity_id: id, last: sequence } of all) {
    const sequences = last.get(kind) ?? new Map<string, number>();
    last.set(kind, sequences.set(`${workspaceId} ${id}`, sequence));
  }
  const sequenceOf: LastEvents['sequenceOf'] = (workspaceId, kind, id) =>
    last.get(kind)?.get(`${workspaceId} ${id}`);

  /** Reads the type before the data, because that usually avoids reading an archive file. */
  const isEndType = (workspaceId: string, sequence: number): boolean =>
    subject
      .rows<{ type: string }>(
        'SELECT type FROM events WHERE workspace_id = ?1 AND sequence = ?2',
        workspaceId,
        sequence,
      )
      .some(({ type }) => endTypes.has(type));
  const mayBeGone: LastEvents['mayBeGone'] = (workspaceId, kind, id) => {
    const sequence = sequenceOf(workspaceId, kind, id);
    if (sequence === undefined || isEndType(workspaceId, sequence)) return true;
    const event = readEvent(subject, workspaceId, sequence);
    if (!event || isEnded(kind, event.data)) return true;
    if (!partsOfIssues.includes(kind)) return false;
    const { issue, commentId } = event.data;
    // A reaction is removed with its comment. An inbox item may have no issue.
    if (typeof commentId === 'string' && mayBeGone(workspaceId, 'comment', commentId)) return true;
    const issueId = idOf(issue);
    return typeof issueId === 'string' ? mayBeGone(workspaceId, 'issue', issueId) : issueId === undefined;
  };
  return {
    sequenceOf,
    mayBeGone,
    *of(kind) {
      for (const [key, sequence] of last.get(kind) ?? []) {
        const [workspaceId = '', id = ''] = key.split(' ');
        yield { workspaceId, id, sequence };
      }
    },
  };
}

function isEnded(kind: string, { deletedAt, archivedAt }: Data): boolean {
  return typeof deletedAt === 'string' || (kind === 'inbox_item' && typeof archivedAt === 'string');
}

// Compares rows with the last events of their objects. Archived events are compared last and in order, so
// that each archive file is read only once.

export interface Comparison {
  /** Name of the entity in events. */
  readonly kind: string;
  /** Name of the table in a finding. */
  readonly table: string;
  /** SQL without conditions that selects at least `workspace_id` and `id` from the table of the objects, aliased as `o`. */
  readonly select: string;
  /** True if another comparison of the same objects already reports those without events. */
  readonly isFurther?: true;
  /** @returns names of the differing facts, possibly empty; null if the row matches the event */
  differences(row: SqlRow, event: LastEvent): readonly string[] | null;
}

interface Compared {
  readonly comparison: Comparison;
  readonly differing: string[];
  readonly unknown: string[];
}

interface Archived {
  readonly compared: Compared;
  readonly workspaceId: string;
  readonly id: string;
  readonly sequence: number;
}

function compareRows(subject: RowSubject, last: LastEvents, comparisons: readonly Comparison[]): Finding[] {
  const all = comparisons.map((comparison): Compared => ({ comparison, differing: [], unknown: [] }));
  const archived = all.flatMap((compared) => compareStored(subject, last, compared));
  compareArchived(subject, archived);
  return all.flatMap(({ comparison: { table }, differing, unknown }) => [
    ...(differing.length > 0
      ? [error(`Rows differ from the event log in ${table}: ${some(differing)}. Restore a backup.`)]
      : []),
    ...(unknown.length > 0
      ? [error(`Rows have no events in the log, in ${table}: ${some(unknown)}. Restore a backup.`)]
      : []),
  ]);
}

/** @returns the objects whose last event is archived, for `compareArchived` */
function compareStored(subject: RowSubject, last: LastEvents, compared: Compared): Archived[] {
  const { kind, select, isFurther } = compared.comparison;
  const unknown = isFurther ? [] : compared.unknown;
  const archived: Archived[] = [];
  for (const row of subject.database().prepare(select).iterate() as Iterable<SqlRow>) {
    const [workspaceId, id] = [String(row.workspace_id), String(row.id)];
    const sequence = last.sequenceOf(workspaceId, kind, id);
    if (sequence === undefined) unknown.push(id);
    else if (subject.archived?.holds(workspaceId, sequence))
      archived.push({ compared, workspaceId, id, sequence });
    else compare(subject, compared, row, sequence);
  }
  return archived;
}

function compareArchived(subject: RowSubject, archived: Archived[]): void {
  archived.sort((a, b) =>
    a.workspaceId === b.workspaceId ? a.sequence - b.sequence : a.workspaceId < b.workspaceId ? -1 : 1,
  );
  for (const { compared, workspaceId, id, sequence } of archived) {
    const { select } = compared.comparison;
    const [row] = subject.rows<SqlRow>(`${select} WHERE o.workspace_id = ?1 AND o.id = ?2`, workspaceId, id);
    if (row) compare(subject, compared, row, sequence);
  }
}

function compare(
  subject: RowSubject,
  { comparison, differing }: Compared,
  row: SqlRow,
  sequence: number,
): void {
  const event = readEvent(subject, String(row.workspace_id), sequence);
  const differences = event && comparison.differences(row, event);
  if (!differences) return;
  const names = differences.length > 0 ? ` (${differences.join(', ')})` : '';
  differing.push(`${String(row.id)}${names}`);
}

// Finds objects that have no row although the log has no deletion of them.

/** Entities whose rows are removed without an event after expiry, revocation or decision, and are not exported with a workspace. */
export const ofServer: readonly string[] = ['api_key', 'oauth_app', 'grant', 'webhook', 'plugin', 'proposal'];

function missingRows({ rows }: RowSubject, last: LastEvents): Finding[] {
  return contracts.flatMap(({ name }) => {
    const table = storedModels.get(name)?.table;
    if (table === undefined || ofServer.includes(name)) return [];
    const present = new Set(
      rows<{ key: string }>(`SELECT workspace_id || ' ' || id AS key FROM ${table}`).map(({ key }) => key),
    );
    const absent = [...last.of(name)].filter(({ workspaceId, id }) => !present.has(`${workspaceId} ${id}`));
    // The objects are sorted by event, so that each archive file is read only once.
    const missing = absent
      .sort((a, b) => a.sequence - b.sequence)
      .filter(({ workspaceId, id }) => !last.mayBeGone(workspaceId, name, id));
    return missingFrom(
      table,
      missing.map(({ id }) => id),
    );
  });
}

export function missingFrom(table: string, ids: readonly string[]): Finding[] {
  return ids.length > 0
    ? [
        error(
          `Rows are missing from ${table}, but the log has no deletion of them: ${some(ids)}. Restore a backup.`,
        ),
      ]
    : [];
}

/** Every event contains the whole object, so the last event of an object determines its row. */
export const replay: RowCheck = {
  name: 'replay',
  holds: 'every row matches the last event of its object',
  readsDatabase: true,
  look(subject) {
    const last = lastEventsOf(subject);
    const references = referencesOf(subject, (...parts) => last.sequenceOf(...parts) !== undefined);
    const comparisons = contracts.flatMap((contract) => comparisonOf(contract, references));
    return [
      ...compareRows(subject, last, [...comparisons, labelsOf(subject)]),
      ...missingRows(subject, last),
      ...relations(subject, last),
      ...attachments(subject, last),
      ...unread(subject),
    ];
  },
};

function comparisonOf(contract: Contract, references: References): Comparison[] {
  const model = storedModels.get(contract.name);
  if (!model || eventsOf(contract.events).length === 0) return [];
  const facts = factsOf(contract, references);
  const columns = new Set(['workspace_id', 'id', 'version', ...facts.flatMap((fact) => fact.columns)]);
  return [
    {
      kind: contract.name,
      table: model.table,
      select: `SELECT ${[...columns].join(', ')} FROM ${model.table} AS o`,
      differences(row, event) {
        const differing = facts.flatMap(({ name, agrees }) => (agrees(row, event) ? [] : [name]));
        return differing.length > 0 ? differing : null;
      },
    },
  ];
}

function unread({ archived }: RowSubject): Finding[] {
  return archived && archived.unread > 0
    ? [
        warning(
          `${archived.unread} events were not compared with their objects, because their archive files cannot be read. Restore the files from a backup.`,
        ),
      ]
    : [];
}
