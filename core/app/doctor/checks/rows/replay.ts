import { contracts, eventsOf } from '../../../../features/contracts.ts';
import type { Contract } from '../../../../kernel/contract/contract.ts';
import { storedModels } from '../../../features.ts';
import { warning, type Finding, type RowCheck } from '../../check.ts';
import type { RowSubject } from '../../subject.ts';
import { compareRows, type Comparison } from './comparison.ts';
import { lastEventsOf } from './last-events.ts';
import { missingRows } from './missing.ts';
import { attachments, labelsOf, relations } from './related.ts';
import { factsOf } from '../../facts/of-contract.ts';
import { referencesOf, type References } from '../../facts/references.ts';

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
