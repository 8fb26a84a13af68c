// Ranks get longer where cards are put into one gap again and again. Once one is too long, those that share its beginning get short ones
// with room between them, below that beginning: what stands outside keeps its rank, and its place among them.
import type { Context } from '../../context.ts';
import { rankLengthMax, ranksBelow } from '../../lib/rank.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp } from '../../store/store.ts';
import { stagedCards, type Placed, type Reranked } from './card.ts';
import type { Board } from './kind.ts';

/** No less than the rank of a card that nobody moved has: none of those is among the cards that share so much. */
const sharedChars = 36;
/** After every digit. */
const above = '~';

const within = 'workspace_id = :ws AND board_id = :boardId AND rank >= :shared AND rank < :end';
const sharing = tenantStatement<{ issue_id: string; rank: string }>(
  'board_cards.sharing',
  `SELECT issue_id, rank FROM board_cards WHERE ${within} ORDER BY rank`,
);
const clear = tenantStatement('board_cards.clear', `DELETE FROM board_cards WHERE ${within}`);
const fill = tenantStatement(
  'board_cards.fill',
  `INSERT INTO board_cards (workspace_id, board_id, issue_id, rank)
   SELECT :ws, :boardId, value->>0, value->>1 FROM json_each(:cards)`,
);

type Room = Pick<Placed, 'rank' | 'room'>;

/** @param rank the one that a card is to get. @returns the one that it gets, and what else is written for it */
export async function makeRoom(ctx: Context, board: Board, issueId: string, rank: string): Promise<Room> {
  const { id: boardId } = board;
  // A run moves at most a hundred cards, so its ranks stay bounded; the next move shortens them.
  if (rank.length <= rankLengthMax || stagedCards(ctx, board).size > 0) return { rank, room: null };
  const shared = rank.slice(0, sharedChars);
  const range = { boardId, shared, end: shared + above };
  const rows = await ctx.store.read(ctx.scope, sharing, range);
  const others = rows.filter((row) => row.issue_id !== issueId);
  const place = others.filter((row) => row.rank < rank).length;
  const order = [
    ...others.slice(0, place).map((row) => row.issue_id),
    issueId,
    ...others.slice(place).map((row) => row.issue_id),
  ];
  const ranks = ranksBelow(shared, order.length);
  const cards = order.map((id, index): Reranked => ({ issueId: id, rank: ranks[index]! }));
  const rest = cards.filter((card) => card.issueId !== issueId);
  return {
    rank: ranks[place]!,
    room: {
      others: rest,
      ops: (scope) => [
        tenantOp(scope, clear, range),
        tenantOp(scope, fill, {
          boardId,
          cards: JSON.stringify(rest.map((card) => [card.issueId, card.rank])),
        }),
      ],
    },
  };
}
