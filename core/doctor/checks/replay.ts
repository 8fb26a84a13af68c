import { contracts, eventsOf } from '../../contracts.ts';
import type { Contract } from '../../contract/contract.ts';
import type { Row } from '../../store/statement.ts';
import { kinds } from '../kinds.ts';
import { error, some, type RowCheck, type Finding } from '../check.ts';
import type { RowSubject } from '../subject.ts';
import { attachments, labels, relations } from './related.ts';
import { readEvent } from './last-event.ts';
import { factsOf } from '../facts/of-contract.ts';
import { referencesOf, type References } from '../facts/references.ts';

/** Every change is announced with the whole object, so that the last event of each object says how its row must be. */
export const replay: RowCheck = {
  name: 'replay',
  holds: 'every object is as the log says',
  readsDatabase: true,
  look(subject) {
    const last = lastSequences(subject);
    const references = referencesOf(subject, (...parts) => last.has(keyOf(...parts)));
    return [
      ...contracts.flatMap((contract) => compare(subject, contract, last, references)),
      ...labels(subject, (workspaceId, id) => last.get(keyOf(workspaceId, 'issue', id))),
      ...relations(subject),
      ...attachments(subject),
    ];
  },
};

/** Of the last event of each object. */
function lastSequences({ rows }: RowSubject): ReadonlyMap<string, number> {
  const all = rows<{ workspace_id: string; entity_kind: string; entity_id: string; last: number }>(
    'SELECT workspace_id, entity_kind, entity_id, max(sequence) AS last FROM events GROUP BY 1, 2, 3',
  );
  return new Map(all.map((row) => [keyOf(row.workspace_id, row.entity_kind, row.entity_id), row.last]));
}

const keyOf = (...parts: readonly string[]): string => parts.join(' ');

function compare(
  subject: RowSubject,
  contract: Contract,
  lastOf: ReadonlyMap<string, number>,
  references: References,
): Finding[] {
  const kind = kinds.get(contract.name);
  if (!kind || eventsOf(contract.events).length === 0) return [];
  const facts = factsOf(contract, references);
  const columns = new Set(['workspace_id', 'id', 'version', ...facts.flatMap((fact) => fact.columns)]);
  const rows = subject
    .database()
    .prepare(`SELECT ${[...columns].join(', ')} FROM ${kind.table}`)
    .iterate() as Iterable<Row>;
  const differing: string[] = [];
  const unheard: string[] = [];
  for (const row of rows) {
    const workspaceId = String(row.workspace_id);
    const sequence = lastOf.get(keyOf(workspaceId, contract.name, String(row.id)));
    if (sequence === undefined) {
      unheard.push(String(row.id));
      continue;
    }
    const last = readEvent(subject, workspaceId, sequence);
    if (!last) continue;
    const differs = facts.flatMap(({ name, agrees }) => (agrees(row, last) ? [] : [name]));
    if (differs.length > 0) differing.push(`${String(row.id)} (${differs.join(', ')})`);
  }
  return [
    ...(differing.length > 0 ? [error(`Not as the log says, in ${kind.table}: ${some(differing)}.`)] : []),
    ...(unheard.length > 0
      ? [error(`The log has never heard of these in ${kind.table}: ${some(unheard)}.`)]
      : []),
  ];
}
