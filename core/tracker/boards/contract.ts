// Boards: the issues that pass a filter, in columns. What stands where is read from the issues; a board keeps only the order of cards
// that somebody put in their place.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, json, markdown, referenceBy, string, text } from '../../contract/field.ts';
import { Closed, line, nullable } from '../../lib/schema.ts';
import { team } from '../teams/contract.ts';

/** What the columns of a board stand for, beside custom fields. */
const groupings = ['state', 'stateType', 'assignee', 'priority', 'label'] as const;
export type GroupingName = (typeof groupings)[number];
/** What stands before the key of a custom field. */
export const ofField = 'fields.';

const groupedBy = (names: readonly GroupingName[], description: string) =>
  Type.String({
    maxLength: 60,
    pattern: `^(${names.join('|')}|fields\\.[a-z][a-z0-9_]{0,39})$`,
    description,
  });
const allowed = (names: readonly GroupingName[]): string =>
  `${names.join(', ')}, or fields.<key> for a custom field (a select, a member or a checkbox).`;
export const columnGrouping = groupedBy(groupings, allowed(groupings));
/** A card stands in one lane. */
const laneGroupings = groupings.filter((name) => name !== 'label');
/** The order that people make by moving cards. */
export const byHand = 'manual';
export const columnsMax = 50;

const boardColumn = Closed({
  value: nullable(
    Type.String({
      minLength: 1,
      maxLength: 80,
      description:
        'What its issues have in common: the name or id of a state, a type of states, a priority, the id of a member or label, the value of an option, or `true` or `false`. Null stands for issues without any.',
    }),
  ),
  title: Type.Optional(nullable(line(80, 'Its heading, where that is not the value.'))),
  limit: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: 'How many cards it should hold at most (WIP limit).',
      }),
    ),
  ),
  hidden: Type.Optional(
    Type.Boolean({ description: 'Its cards are counted, and not shown with the board.' }),
  ),
});

const issueFilter = Type.Record(Type.String(), Type.Unknown(), {
  description: 'A filter tree, as in the list of issues; `{}` lets all pass.',
});

export const board = defineContract({
  name: 'board',
  path: 'boards',
  title: 'Board',
  id: 'brd',
  doc: 'Issues in columns, which are moved by hand.',
  fields: {
    name: text({ max: 120, required: true, filter: true, doc: 'What it is called.' }),
    description: markdown({ max: 65_536, default: '', doc: 'What it is for.' }),
    team: referenceBy(team, 'key', {
      nullable: true,
      filter: true,
      doc: 'The team whose issues it shows, by its key; null for those of all teams.',
    }),
    filter: json(issueFilter, { default: {}, doc: 'Which issues it shows.' }),
    groupBy: string(columnGrouping, {
      default: 'state',
      doc: `What its columns stand for: ${allowed(groupings)}`,
    }),
    columns: json(Type.Array(boardColumn, { minItems: 1, maxItems: columnsMax }), {
      nullable: true,
      doc: 'Its columns, from left to right; null for one of each state, type, priority, or assignee or label that has cards.',
    }),
    swimlanes: string(groupedBy(laneGroupings, allowed(laneGroupings)), {
      nullable: true,
      doc: `What its swim lanes stand for, which cross the columns; null where it has none. One of ${allowed(laneGroupings)}`,
    }),
    sort: text({
      max: 100,
      default: byHand,
      doc: 'The order of cards in a column: `manual` for the one that people make, or a sort of issues such as `-priority,updatedAt`.',
    }),
    limits: choice(['soft', 'hard'], {
      default: 'soft',
      doc: 'What the limits of columns do: soft ones show that there are too many, hard ones refuse moves as well.',
    }),
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
  keepsDeleted: true,
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
