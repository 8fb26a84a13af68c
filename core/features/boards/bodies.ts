// Bodies of the board routes other than the default operations.
import { Type, type Static, type TString } from 'typebox';
import { responseProperties } from '../../kernel/contract/schemas.ts';
import {
  Closed,
  described,
  inputForm,
  idAndName,
  idOf,
  namedSchema,
  nameOf,
  nullable,
  pageOf,
  pageQuery,
  writes,
  type WrittenFields,
} from '../../platform/lib/schema.ts';
import { AsOf, asOfQuery } from '../../kernel/resource/as-of/past.ts';
import { issue } from '../issues/contract.ts';
import { positionInputs, selectionQuery, sortQuery } from '../issues/index.ts';
import { board, columnGrouping, laneGrouping } from './contract.ts';

const { description: _long, ...cardProperties } = responseProperties(issue);

export const BoardCard = namedSchema(
  'BoardCard',
  Closed(cardProperties, { description: 'Issue without its description.' }),
);

const count = (description: string) => Type.Integer({ minimum: 0, description });
const page = pageOf(BoardCard) as ReturnType<typeof Closed>;
const { pageInfo } = page.properties;
const cards = Type.Array(BoardCard, { description: 'First page of cards, in board order.' });
const key = Type.String({ description: 'Key that requests use: the value, or `none`.' });
const title = Type.String({ description: 'Heading of the column or swimlane.' });

const BoardLaneCards = namedSchema(
  'BoardLaneCards',
  Closed({
    key,
    count: count('Number of cards that are in both the column and the lane.'),
    cards,
    pageInfo: pageInfo!,
  }),
);

const BoardColumnResponse = namedSchema(
  'BoardColumnWithCards',
  Closed({
    key,
    value: nullable(
      Type.String({ description: 'Value that issues of the column have; null for issues without a value.' }),
    ),
    title,
    count: count('Number of cards in the column.'),
    limit: nullable(Type.Integer({ description: 'Recommended maximum number of cards; null for no limit.' })),
    over: Type.Boolean({ description: 'True if the column exceeds its limit.' }),
    hidden: Type.Boolean({ description: 'True if the column is hidden: its cards are counted, not listed.' }),
    cards: Type.Optional(cards),
    pageInfo: Type.Optional(pageInfo!),
    lanes: Type.Optional(
      Type.Array(BoardLaneCards, {
        description: 'Swimlanes that have cards, in place of `cards`; present only on boards with swimlanes.',
      }),
    ),
  }),
);

const contents = {
  columns: Type.Array(BoardColumnResponse, { description: 'Columns, left to right.' }),
  lanes: nullable(
    Type.Array(Closed({ key, title, count: count('Number of cards in the swimlane.') }), {
      description: 'Swimlanes, top to bottom; null if the board has none.',
    }),
  ),
  elsewhere: count('Number of issues on the board that are in none of its columns.'),
};

export const BoardCards = namedSchema(
  'BoardCards',
  Closed({
    board: described(idAndName(idOf(board.id), 'the board'), 'The board.'),
    ...contents,
    asOf: Type.Optional(AsOf),
  }),
);
export const IssueBoard = namedSchema('IssueBoard', Closed(contents));
export const IssueBoardColumn = namedSchema('IssueBoardColumn', page);
export const BoardColumnCards = namedSchema(
  'BoardColumnCards',
  Closed({ ...page.properties, asOf: Type.Optional(AsOf) }),
);

const fields = { maxLength: 500, description: 'Comma-separated fields to return for each card.' };

export const perColumnDefault = 25;
const firstCards = {
  perColumn: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: perColumnDefault,
      description: 'Maximum number of cards returned per column, or per lane of a column.',
    }),
  ),
  // Parsed as a plain list: cards are nested in the response, so its type cannot list their selected fields.
  fields: Type.Optional(Type.String({ ...fields, [inputForm]: 'list' })),
};
const ofColumn = {
  ...pageQuery,
  lane: Type.Optional(
    Type.String({ maxLength: 80, description: 'Key of a swimlane, to list only its cards.' }),
  ),
  fields: Type.Optional(Type.String({ ...fields, [inputForm]: 'fields' })),
};
export const cardsQuery = Closed({ ...firstCards, ...asOfQuery });
export const columnQuery = Closed({ ...ofColumn, ...asOfQuery });
export const columnKey = Type.String({
  minLength: 1,
  maxLength: 80,
  description: 'Key of the column, percent-encoded.',
});

const grouped = (schema: TString & { readonly description?: string }, by: string): TString =>
  described(schema, `Field that ${by} group issues by. ${schema.description}`);
const ofIssues = {
  ...selectionQuery,
  groupBy: Type.Optional({ ...grouped(columnGrouping, 'the columns'), default: 'state' }),
  swimlanes: Type.Optional(grouped(laneGrouping, 'swimlanes')),
  ...sortQuery,
};
export const issueBoardQuery = Closed({ ...ofIssues, ...firstCards });
export const issueColumnQuery = Closed({ ...ofIssues, ...ofColumn });

const nothing: WrittenFields = [];
const about = (description: string, schema = nameOf(issue)) =>
  Type.Unsafe<string>({ ...schema, description, [writes]: nothing });
const word = Type.String({ minLength: 1, maxLength: 80 });

export const BoardMove = namedSchema(
  'BoardMove',
  Closed({
    issueId: about('The issue to move, by its id or identifier.'),
    column: about('The key of the column to move the card to.', word),
    lane: Type.Optional(about('Key of the swimlane to move the card to; default: its current one.', word)),
    from: Type.Optional(
      about(
        'On boards grouped by label: key of the column whose label is removed; default: the labels of all other columns.',
        word,
      ),
    ),
    ...positionInputs(
      'Card',
      'End of the column to place the card at. Without `position`, `before` and `after`, a card that comes from another column goes to the top, and any other stays in place.',
    ),
  }),
);
export type Move = Static<typeof BoardMove>;

/**
 * Data of `board.card_moved`: contains only the id of the issue, because readers of boards may lack access to
 * issues.
 */
export const CardMoved = namedSchema(
  'BoardCardMoved',
  Closed({
    board: described(idAndName(idOf(board.id), 'the board'), 'Board the card was moved on.'),
    issue: Closed({ id: idOf(issue.id) }, { description: 'The card.' }),
    column: nullable(
      Type.String({
        description:
          'Key of the column the card was moved to; null if only its rank changed, to make space for another card.',
      }),
    ),
    lane: nullable(Type.String({ description: 'Key of the swimlane the card was moved to.' })),
    rank: Type.String({ description: 'Position of the card: cards sort by the bytes of their rank.' }),
  }),
);
