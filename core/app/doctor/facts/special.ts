// Facts that cannot be derived from a contract: columns that events represent differently, and rows that change without an event.
import { sameValue } from '../../../kernel/changes/change.ts';
import { purgedReason } from '../../../features/proposals/purged.ts';
import { priorities } from '../../../features/issues/contract.ts';
import type { Data } from '../checks/rows/last-event.ts';
import { equal, fact, idOf, storedIn, timeOf, type Fact, type SpecialFacts } from './fact.ts';
import type { References } from './references.ts';

const idsOf = (logged: unknown): unknown => (logged as readonly unknown[] | undefined)?.map(idOf);
const ofIssue = equal('issue', 'issue_id', ({ issue }) => idOf(issue));

export const specialFacts: SpecialFacts = {
  issue: (references) => [
    equal('priority', 'priority', ({ priority }) =>
      priorities.toReversed().indexOf(priority as (typeof priorities)[number]),
    ),
    // Comments and attachments update this column without a new version.
    fact(
      'updatedAt',
      ['updated_at'],
      (row, { data }) => Number(row.updated_at) >= Number(timeOf(data.updatedAt)),
    ),
    fieldValues(references),
  ],
  comment: () => [ofIssue, equal('mentions', 'mention_ids_json', ({ mentions }) => idsOf(mentions))],
  reaction: () => [
    ofIssue,
    equal('commentId', 'subject_id', ({ commentId, issue }) => commentId ?? idOf(issue)),
  ],
  subscriber: () => [ofIssue, equal('muted', 'muted', (_, type) => Number(type === 'issue.unsubscribed'))],
  sla_clock: () => [ofIssue],
  template: (references) => [
    // Deleted labels stay in the row, but events omit them.
    fact('labels', ['labels_json'], (row, { data }) => {
      const present = (ids: readonly string[]) =>
        ids.filter((id) => !references.isGone('label', row.workspace_id, id));
      const logged = (data.labels as readonly { readonly id: string }[]).map(({ id }) => id);
      return sameValue(present(storedIn(row, 'labels_json') as string[]), present(logged));
    }),
    fieldValues(references),
  ],
  project: () => [equal('members', 'members_json', ({ members }) => idsOf(members))],
  team: () => [
    equal('cycles', 'cycles_json', ({ cycles }) => cycles),
    equal('transitions', 'transitions_json', ({ transitions }) => transitions),
  ],
  member: (references) => [
    fact('teams', ['teams_json'], (row, { data }) => {
      const logged = data.teams as readonly string[] | undefined;
      return (
        logged === undefined ||
        sameValue(
          storedIn(row, 'teams_json'),
          logged.map((key) => references.teamOf(row.workspace_id, key)),
        )
      );
    }),
  ],
  grant: () => [
    equal('client', 'client_id', ({ client }) => idOf(client)),
    equal('client', 'client_name', ({ client }) => (client as Data | undefined)?.name),
    equal('client', 'client_kind', ({ client }) => (client as Data | undefined)?.kind),
    equal('client', 'client_verified', ({ client }) => Number((client as Data).verified)),
    equal('scopes', 'scopes_json', ({ scopes }) => scopes),
  ],
  webhook: () => [equal('events', 'events_json', ({ events }) => events)],
  // Events of a personal view omit its contents.
  view: () =>
    ['name', 'description', 'sort', 'layout', 'group_by', 'filter_json'].map((column) => {
      const name = { group_by: 'groupBy', filter_json: 'filter' }[column] ?? column;
      return equal(name, column, (data) => (data.visibility === 'shared' ? data[name] : undefined));
    }),
  inbox_item: () => [
    equal('issueId', 'issue_id', ({ issue }) => idOf(issue) ?? null),
    // A purge removes the issue's text without an event.
    fact(
      'body',
      ['body', 'reason'],
      (row, { data }) => row.body === data.body || (row.reason === 'proposal' && row.body === purgedReason),
    ),
  ],
};

/** Values of custom fields are stored by field id; events use keys and omit the values of deleted fields. */
function fieldValues(references: References): Fact {
  return fact('fields', ['fields_json'], (row, { data }) => {
    if (data.fields === undefined) return true;
    const logged = data.fields as Data;
    const stored = Object.entries((storedIn(row, 'fields_json') ?? {}) as Data).map(([id, value]) => ({
      field: references.fieldOf(row.workspace_id, id),
      value,
    }));
    // A deleted field and a later one may have the same key.
    const isStored = ([key, value]: readonly [string, unknown]): boolean =>
      stored.some((one) => one.field?.key === key && sameValue(one.value, value));
    return (
      Object.entries(logged).every(isStored) &&
      stored.every(({ field }) => field && (field.key in logged || field.wasDeleted))
    );
  });
}
