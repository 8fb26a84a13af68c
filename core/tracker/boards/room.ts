// Ranks get longer where cards are put into one gap again and again. Once one is too long, those that share its beginning get short ones
// with room between them, below that beginning: what stands outside keeps its rank, and its place among them.
import type { Context } from '../../context.ts';
import { rankLengthMax } from '../../lib/rank.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp } from '../../store/store.ts';
import type { Placed, Reranked } from './card.ts';
import type { Board } from './kind.ts';

/** No less than the rank of a card that nobody moved has: none of those is among the cards that share so much. */
const sharedChars = 36;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** After every digit. */
const above = '~';

const within = 'workspace_id = :ws AND board_id = :boardId AND rank >= :shared AND rank < :end';
const sharing = tenantStatement<{ issue_id: string; rank: string }>(
  'board_cards.sharing',
  `SELECT issue_id, rank FROM board_cards WHERE ${within} ORDER BY rank`,
);
/** Loses the race where others came or went, or were moved. */
const unmoved = tenantStatement(
  'board_cards.unmoved',
  `UPDATE boards SET version = version WHERE workspace_id = :ws AND id = :boardId
     AND (SELECT count(*) FROM board_cards WHERE ${within}) = :count
     AND (SELECT count(*) FROM json_each(:seen) AS seen CROSS JOIN board_cards AS c ON c.workspace_id = :ws
          AND c.board_id = :boardId AND c.issue_id = seen.value->>0 AND c.rank = seen.value->>1) = :count`,
);
const clear = tenantStatement('board_cards.clear', `DELETE FROM board_cards WHERE ${within}`);
const fill = tenantStatement(
  'board_cards.fill',
  `INSERT INTO board_cards (workspace_id, board_id, issue_id, rank)
   SELECT :ws, :boardId, value->>0, value->>1 FROM json_each(:cards)`,
);

type Room = Pick<Placed, 'rank' | 'room'>;

/** @param rank the one that a card is to get. @returns the one that it gets, and what else is written for it */
export async function makeRoom(
  ctx: Context,
  { id: boardId }: Board,
  issueId: string,
  rank: string,
): Promise<Room> {
  if (rank.length <= rankLengthMax) return { rank, room: null };
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
  const ranks = spread(shared, order.length);
  const cards = order.map((id, index): Reranked => ({ issueId: id, rank: ranks[index]! }));
  const rest = cards.filter((card) => card.issueId !== issueId);
  const listed = (all: readonly (readonly [string, string])[]): string => JSON.stringify(all);
  return {
    rank: ranks[place]!,
    room: {
      others: rest,
      ops: (scope) => [
        tenantOp(
          scope,
          unmoved,
          { ...range, count: rows.length, seen: listed(rows.map((row) => [row.issue_id, row.rank])) },
          { expectRows: 1 },
        ),
        tenantOp(scope, clear, range),
        tenantOp(scope, fill, { boardId, cards: listed(rest.map((card) => [card.issueId, card.rank])) }),
      ],
    },
  };
}

/** Ranks below a beginning, as far from each other as their length allows. */
function spread(shared: string, count: number): string[] {
  const width = Math.ceil(Math.log(count + 1) / Math.log(digits.length)) + 1;
  const step = Math.floor(digits.length ** width / (count + 1));
  return Array.from({ length: count }, (_, index) => {
    let text = '';
    for (let rest = (index + 1) * step; text.length < width; rest = Math.floor(rest / digits.length))
      text = digits[rest % digits.length]! + text;
    // Ranks end in no zero.
    return `${shared}${text}V`;
  });
}
