// Compares rows with the last events of their objects. Archived events are compared last and in order, so
// that each archive file is read only once.
import { contracts, eventsOf } from '../../features/contracts.ts';
import {
  error,
  type Finding,
  type References,
  type RowCheck,
  type RowSubject,
  some,
  warning,
} from '../../kernel/checks.ts';
import type { Contract } from '../../kernel/contract/contract.ts';
import type { SqlRow } from '../../platform/store/statement.ts';
import { storedModels } from '../features.ts';
import { factsOf, referencesOf } from './facts.ts';
import { type Comparison, type LastEvents, lastEventsOf, missingFrom, readEvent } from './last-events.ts';
import { labelsOf, partsOfIssues } from './related.ts';
import { contractsOfServer } from '../../features/tables.ts';

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
      ...partsOfIssues(subject, last, references),
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

/** Finds objects that have no row although the log has no deletion of them. */
function missingRows({ rows }: RowSubject, last: LastEvents): Finding[] {
  return contracts.flatMap(({ name }) => {
    const table = storedModels.get(name)?.table;
    // Rows of the server are removed without an event after expiry, revocation or decision.
    if (table === undefined || contractsOfServer.includes(name)) return [];
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
