// Respaces ranks. Ranks grow when cards are repeatedly inserted at the same position. Once a rank is too
// long, all cards that share its prefix get short, evenly spaced ranks below that prefix; other cards do
// not change.
import type { Context } from '../../../kernel/context.ts';
import { rankLengthMax, ranksBelow } from '../../../platform/lib/rank.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp } from '../../../platform/store/store.ts';
import { stagedCards, type Placed, type Reranked } from './card.ts';
import type { Board } from '../model.ts';

/** Length of the shared prefix: at least that of a default rank, so that no unmoved card has the prefix. */
const sharedChars = 36;
/** Greater than every digit. */
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

type RespacedRank = Pick<Placed, 'rank' | 'respacing'>;

/**
 * Returns the rank that the card gets, and the writes for other cards.
 * @param rank rank computed for the card
 */
export async function respaceRanks(
  ctx: Context,
  board: Board,
  issueId: string,
  rank: string,
): Promise<RespacedRank> {
  const { id: boardId } = board;
  // A run moves at most a hundred cards, so its ranks stay bounded; the next move shortens them.
  if (rank.length <= rankLengthMax || stagedCards(ctx, board).size > 0) return { rank, respacing: null };
  const shared = rank.slice(0, sharedChars);
  const range = { boardId, shared, end: shared + above };
  const rows = await ctx.store.read(ctx.scope, sharing, range);
  const others = rows.filter((row) => row.issue_id !== issueId);
  const position = others.filter((row) => row.rank < rank).length;
  const order = [
    ...others.slice(0, position).map((row) => row.issue_id),
    issueId,
    ...others.slice(position).map((row) => row.issue_id),
  ];
  const ranks = ranksBelow(shared, order.length);
  const cards = order.map((id, index): Reranked => ({ issueId: id, rank: ranks[index]! }));
  const rest = cards.filter((card) => card.issueId !== issueId);
  return {
    rank: ranks[position]!,
    respacing: {
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
