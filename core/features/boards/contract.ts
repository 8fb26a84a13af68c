// Boards: issues that match a filter, in columns. Membership in a column follows from the issue; a board
// stores only the ranks of moved cards.
import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, json, markdown, referenceBy, string, text, pageUrl } from '../../kernel/contract/field.ts';
import { Closed, line, nullable } from '../../platform/lib/schema.ts';
import { team } from '../teams/contract.ts';

/** Issue fields that columns can group by, in addition to custom fields. */
const groupings = ['state', 'stateType', 'assignee', 'priority', 'label'] as const;
export type GroupingName = (typeof groupings)[number];
/** Prefix of custom field keys. */
export const ofField = 'fields.';

const groupedBy = (names: readonly GroupingName[], description: string) =>
  Type.String({
    maxLength: 60,
    pattern: `^(${names.join('|')}|fields\\.[a-z][a-z0-9_]{0,39})$`,
    description,
  });
const allowed = (names: readonly GroupingName[]): string =>
  `One of ${names.join(', ')}, or fields.<key> for a custom field of type select, member or checkbox.`;
export const columnGrouping = groupedBy(groupings, allowed(groupings));
/** Labels are excluded: a card is in exactly one lane. */
const laneGroupings = groupings.filter((name) => name !== 'label');
export const laneGrouping = groupedBy(laneGroupings, allowed(laneGroupings));
/** Value of `sort` for the manual order. */
export const byHand = 'manual';
export const columnsMax = 50;

const boardColumn = Closed({
  value: nullable(
    Type.String({
      minLength: 1,
      maxLength: 80,
      description:
        'Value shared by the issues of the column: name or id of a state, state type, priority, id of a member or label, value of an option, or `true` or `false`. Null for issues without a value.',
    }),
  ),
  title: Type.Optional(nullable(line(80, 'Heading of the column; default: the value.'))),
  limit: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: 'Maximum number of cards (WIP limit).',
      }),
    ),
  ),
  hidden: Type.Optional(
    Type.Boolean({ description: 'True to hide the column: its cards are counted, not listed.' }),
  ),
});

const issueFilter = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Filter tree, as for the list of issues; `{}` matches all.',
});

export const board = defineContract({
  name: 'board',
  path: 'boards',
  title: 'Board',
  id: 'brd',
  doc: 'Board that shows issues as cards in columns.',
  fields: {
    name: text({ max: 120, required: true, filter: true, doc: 'Name of the board.' }),
    description: markdown({ max: 65_536, default: '', doc: 'Description of the board.' }),
    team: referenceBy(team, 'key', {
      nullable: true,
      filter: true,
      doc: 'Team whose issues the board shows; null for all teams.',
    }),
    filter: json(issueFilter, { default: {}, doc: 'Filter for the issues that the board shows.' }),
    groupBy: string(columnGrouping, {
      default: 'state',
      doc: 'Field that the columns group issues by.',
    }),
    columns: json(Type.Array(boardColumn, { minItems: 1, maxItems: columnsMax }), {
      nullable: true,
      doc: 'Columns, left to right; null for one column per state, type or priority, or per assignee or label that has cards.',
    }),
    swimlanes: string(laneGrouping, {
      nullable: true,
      doc: 'Field that the swimlanes group issues by; null for no swimlanes.',
    }),
    sort: text({
      max: 100,
      default: byHand,
      doc: 'Order of the cards in a column: `manual`, or a sort of issues such as `-priority,updatedAt`.',
    }),
    limits: choice(['soft', 'hard'], {
      default: 'soft',
      doc: 'Enforcement of column limits: `soft` marks columns over their limit, `hard` also refuses moves into full columns.',
    }),
    url: pageUrl('board'),
  },
  undo: 'values',
  operations: {
    list: 'List boards, oldest first',
    create: 'Create a board',
    get: 'Get a board',
    update: 'Change a board',
    delete: 'Delete a board; it can be restored',
    restore: 'Restore a deleted board',
  },
  events: {
    created: 'board.created',
    updated: 'board.updated',
    deleted: 'board.deleted',
    restored: 'board.restored',
  },
  asOf: true,
  retainsDeleted: true,
  ofTeam: true,
  calls: ['list', 'get', 'cards', 'move'],
  examples: {
    create: {
      name: 'Engineering',
      groupBy: 'stateType',
      columns: [
        { value: 'unstarted', title: 'Next' },
        { value: 'started', limit: 5 },
        { value: 'completed' },
      ],
    },
    update: { limits: 'hard' },
  },
});
