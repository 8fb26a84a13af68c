import { Type } from 'typebox';
import { defineRoute } from '../../http/route.ts';
import { Closed, idOf, pageQuery } from '../../lib/schema.ts';
import { asOfQuery } from '../../resource/as-of/moment.ts';
import { readingIssues, writingIssues } from '../issues/seen.ts';
import { BoardCard, BoardCards, BoardColumnCards, BoardMove, cardsQuery, ofCards } from './bodies.ts';
import { boardCardsAt, columnCardsAt } from './as-of.ts';
import { boardCards, columnCards } from './cards.ts';
import { board } from './contract.ts';
import { moveCard } from './move.ts';

const id = idOf(board.id);

export const boardRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/boards/{id}/cards',
    name: 'boards.cards',
    summary: 'Show a board: of each column how many cards it has, and the first of them',
    description:
      'One answer holds up to 1,000 cards in 150 cells; a cell beyond that has `hasNextPage` and no `endCursor`, and is read by the column. Cards whose issues a token does not see are neither shown nor counted.',
    scope: 'boards:read',
    rows: 'team',
    also: readingIssues,
    limit: 'read',
    params: Closed({ id }),
    query: cardsQuery,
    responses: { 200: BoardCards },
    read: (ctx, { params: { id }, query: { asOf, ...query } }) =>
      asOf === undefined ? boardCards(ctx, id, query) : boardCardsAt(ctx, id, { ...query, asOf }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/boards/{id}/columns/{column}/cards',
    name: 'boards.column-cards',
    summary: 'List the cards of a column, in their order',
    description: 'Goes on after the `endCursor` of the column, or of its lane.',
    scope: 'boards:read',
    rows: 'team',
    also: readingIssues,
    limit: 'read',
    params: Closed({
      id,
      column: Type.String({
        minLength: 1,
        maxLength: 80,
        description: 'The key of the column, percent-encoded.',
      }),
    }),
    query: Closed({
      ...pageQuery,
      lane: Type.Optional(
        Type.String({ maxLength: 80, description: 'The key of a swim lane: only its cards.' }),
      ),
      ...asOfQuery,
      ...ofCards,
    }),
    responses: { 200: BoardColumnCards },
    errors: ['invalid_cursor'],
    read: (ctx, { params: { id, column }, query: { asOf, ...query } }) =>
      asOf === undefined
        ? columnCards(ctx, id, column, query)
        : columnCardsAt(ctx, id, column, { ...query, asOf }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/boards/{id}/move',
    name: 'boards.move',
    summary: 'Move a card',
    description:
      'The issue becomes what the column and lane stand for, and gets its place there, all or nothing. `If-Match` takes the version of the issue, which is what is answered.',
    scope: 'boards:write',
    rows: 'team',
    also: writingIssues,
    writes: ['cards'],
    limit: 'write',
    params: Closed({ id }),
    body: BoardMove,
    example: { issueId: 'ENG-1', column: 'started' },
    responses: { 200: BoardCard },
    errors: ['conflict', 'transition_not_allowed'],
    write: (ctx, { params, body, ifMatch }) => moveCard(ctx, params.id, body, ifMatch),
  }),
];
