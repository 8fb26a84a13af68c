import { defineRoute } from '../../kernel/http/route.ts';
import { Closed, idOf } from '../../platform/lib/schema.ts';
import { readingIssues, writingIssues } from '../issues/index.ts';
import {
  BoardCard,
  BoardCards,
  BoardColumnCards,
  BoardMove,
  cardsQuery,
  columnKey,
  columnQuery,
  IssueBoard,
  IssueBoardColumn,
  issueBoardQuery,
  issueColumnQuery,
} from './bodies.ts';
import { issueBoard, issueBoardColumn } from './ad-hoc.ts';
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
    summary: 'Get a board with its columns, their card counts and their first cards',
    description:
      'Returns up to 1,000 cards in up to 150 cells. Any further cell has `hasNextPage` true and no `endCursor`; read it with the cards of its column. Cards whose issues the caller cannot see are neither listed nor counted.',
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
    summary: 'List the cards of a column, in board order',
    description: 'Continues after an `endCursor` of the column or of one of its lanes.',
    scope: 'boards:read',
    rows: 'team',
    also: readingIssues,
    limit: 'read',
    params: Closed({ id, column: columnKey }),
    query: columnQuery,
    responses: { 200: BoardColumnCards },
    errors: ['invalid_cursor'],
    read: (ctx, { params: { id, column }, query: { asOf, ...query } }) =>
      asOf === undefined
        ? columnCards(ctx, id, column, query)
        : columnCardsAt(ctx, id, column, { ...query, asOf }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/issues/board',
    name: 'issues.board',
    summary: 'Get the issues of a list in columns, with card counts and the first cards',
    description:
      'Takes the filters of the list, and returns the columns that a stored board with the same settings has. Returns up to 1,000 cards in up to 150 cells. Any further cell has `hasNextPage` true and no `endCursor`; read it with the cards of its column.',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    query: issueBoardQuery,
    responses: { 200: IssueBoard },
    errors: ['budget_exceeded'],
    read: (ctx, { query }) => issueBoard(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/issues/board/columns/{column}/cards',
    name: 'issues.board-column',
    summary: 'List the issues of a column, in board order',
    description:
      'Continues after an `endCursor` of the column or of one of its lanes. Takes the filters, `groupBy`, `swimlanes` and `sort` of the board.',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    params: Closed({ column: columnKey }),
    query: issueColumnQuery,
    responses: { 200: IssueBoardColumn },
    errors: ['invalid_cursor', 'budget_exceeded'],
    read: (ctx, { params: { column }, query }) => issueBoardColumn(ctx, column, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/boards/{id}/move',
    name: 'boards.move',
    summary: 'Move a card',
    description:
      'Changes the fields of the issue to match the column and lane, and sets its position, in one transaction. `If-Match` takes the version of the issue, which the response contains.',
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
