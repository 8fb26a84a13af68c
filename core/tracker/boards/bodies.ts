// The bodies of what boards do beyond the plain: their cards, and a move.
import { Type, type Static } from 'typebox';
import { shownProperties } from '../../contract/schemas.ts';
import {
  Closed,
  described,
  givenAs,
  idAndName,
  idOf,
  named,
  nameOf,
  nullable,
  pageOf,
  writes,
  type Writes,
} from '../../lib/schema.ts';
import { AsOf, asOfQuery } from '../../resource/as-of/moment.ts';
import { issue } from '../issues/contract.ts';
import { placeInputs } from '../issues/place.ts';
import { board } from './contract.ts';

const { description: _long, ...shown } = shownProperties(issue);

/** An issue on a board. */
export const BoardCard = named(
  'BoardCard',
  Closed(shown, { description: 'An issue, without its description.' }),
);

const count = (description: string) => Type.Integer({ minimum: 0, description });
const page = pageOf(BoardCard) as ReturnType<typeof Closed>;
const { pageInfo } = page.properties;
const cards = Type.Array(BoardCard, { description: 'The first of them, in the order of the board.' });
const key = Type.String({ description: 'What requests name it by: its value, or `none`.' });
const title = Type.String({ description: 'Its heading.' });

const BoardLaneCards = named(
  'BoardLaneCards',
  Closed({
    key,
    count: count('How many cards of the column stand in the lane.'),
    cards,
    pageInfo: pageInfo!,
  }),
);

const BoardColumnShown = named(
  'BoardColumnShown',
  Closed({
    key,
    value: nullable(Type.String({ description: 'What it stands for; null for issues without any.' })),
    title,
    count: count('How many cards stand in it.'),
    limit: nullable(Type.Integer({ description: 'How many it should hold at most.' })),
    over: Type.Boolean({ description: 'Whether it holds more than its limit.' }),
    hidden: Type.Boolean({ description: 'Its cards are counted, and not shown here.' }),
    cards: Type.Optional(cards),
    pageInfo: Type.Optional(pageInfo!),
    lanes: Type.Optional(
      Type.Array(BoardLaneCards, {
        description: 'Of a board with swim lanes, in place of `cards`: those lanes that have any.',
      }),
    ),
  }),
);

export const BoardCards = named(
  'BoardCards',
  Closed({
    board: described(idAndName(idOf(board.id), 'the board'), 'The board that is shown.'),
    columns: Type.Array(BoardColumnShown, { description: 'From left to right.' }),
    lanes: nullable(
      Type.Array(Closed({ key, title, count: count('How many cards stand in it.') }), {
        description: 'The swim lanes, from top to bottom; null where the board has none.',
      }),
    ),
    elsewhere: count('How many issues of the board stand in none of its columns.'),
    asOf: Type.Optional(AsOf),
  }),
);
export const BoardColumnCards = named(
  'BoardColumnCards',
  Closed({ ...page.properties, asOf: Type.Optional(AsOf) }),
);

const fields = { maxLength: 500, description: 'Only these fields of each card, comma-separated.' };

export const perColumnDefault = 25;
export const cardsQuery = Closed({
  perColumn: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: perColumnDefault,
      description: 'How many cards of each column are shown, or of each lane in a column.',
    }),
  ),
  ...asOfQuery,
  // The cards lie within the answer, whose type does not say which of their fields are asked for.
  fields: Type.Optional(Type.String({ ...fields, [givenAs]: 'list' })),
});
export const ofCards = { fields: Type.Optional(Type.String({ ...fields, [givenAs]: 'fields' })) };

const nothing: Writes = [];
const about = (description: string, schema = nameOf(issue)) =>
  Type.Unsafe<string>({ ...schema, description, [writes]: nothing });
const word = Type.String({ minLength: 1, maxLength: 80 });

export const BoardMove = named(
  'BoardMove',
  Closed({
    issueId: about('The issue that is moved, by its id or identifier.'),
    column: about('The key of the column that it goes to.', word),
    lane: Type.Optional(
      about('The key of the swim lane that it goes to; absent: it stays in its own.', word),
    ),
    from: Type.Optional(
      about(
        'Where columns stand for labels: the key of the column whose label it loses. Absent: it loses the labels of all other columns.',
        word,
      ),
    ),
    ...placeInputs(
      'The card',
      'The end of the column that it is put at. Absent, and without `before` and `after`: a card that comes from elsewhere is put at the top, and one that stands there keeps its place.',
    ),
  }),
);
export type Move = Static<typeof BoardMove>;

/** What `board.card_moved` tells: no more of the issue than its id, since who reads boards need not read issues. */
export const CardMoved = named(
  'BoardCardMoved',
  Closed({
    board: described(idAndName(idOf(board.id), 'the board'), 'The board that it was moved on.'),
    issue: Closed({ id: idOf(issue.id) }, { description: 'The card that was moved.' }),
    column: nullable(
      Type.String({
        description:
          'The key of the column that it was put in; null where it only got another rank, to make room.',
      }),
    ),
    lane: nullable(Type.String({ description: 'The key of the swim lane that it was put in.' })),
    rank: Type.String({ description: 'Its place: cards stand in the order of the bytes of their ranks.' }),
  }),
);
