// Storage of boards, and the move of a card as a change: its rank and its event. A card has no version of
// its own; the write succeeds only if the issue still has the version for which the position was computed.
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { board } from './contract.ts';
import type { Change, Entity, EventDraft, OrderVersion } from '../../kernel/changes/change.ts';
import type { Context } from '../../kernel/context.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';

export type Board = EntityOf<typeof board>;

export const boardModel = modelOf(board);

/** Affects no row if the issue changed in the meantime; a taken rank violates the unique index. */
const put = tenantStatement(
  'board_cards.put',
  `INSERT INTO board_cards (workspace_id, board_id, issue_id, rank)
   SELECT :ws, :boardId, i.id, :rank FROM issues AS i
   WHERE i.workspace_id = :ws AND i.id = :issueId AND i.version IN (:version - 1, :version) AND i.deleted_at IS NULL
   ON CONFLICT (workspace_id, board_id, issue_id) DO UPDATE SET rank = :rank`,
);

/** Card with a new rank at the same position, after ranks were respaced. */
export interface Reranked {
  readonly issueId: string;
  readonly rank: string;
}

/** Move that a run has staged: the new ranks, and the cell of the moved card. */
interface CardEntity extends Entity, Reranked {
  readonly column: string;
  readonly lane: string | null;
  readonly others: readonly Reranked[];
}

export interface Placed extends Reranked {
  readonly board: Board;
  readonly order: OrderVersion;
  /**
   * Version of the issue after the change; within a run, the issue may change together with the card or
   * before it.
   */
  readonly version: number;
  readonly column: string;
  readonly lane: string | null;
  /** Cards whose ranks are respaced, and the statements that write them. */
  readonly respacing: { readonly others: readonly Reranked[]; ops(scope: Scope): Op[] } | null;
}

export const cardKind = 'board_card';

/** A card with a rank staged by a run. */
interface StagedCard {
  readonly rank: string;
  /** Cell that the card was moved to; null if only its rank changed. */
  readonly cell: { readonly column: string; readonly lane: string | null } | null;
}

/** Returns the staged cards of a board by issue id. */
export function stagedCards({ staged }: Context, board: Board): ReadonlyMap<string, StagedCard> {
  const cards = new Map<string, StagedCard>();
  for (const { kind, order, after } of staged?.changes ?? []) {
    if (kind !== cardKind || order?.id !== board.id) continue;
    const { issueId, rank, column, lane, others } = after as CardEntity;
    // Ranks of other cards were respaced before the move.
    for (const other of others)
      if (!cards.has(other.issueId)) cards.set(other.issueId, { rank: other.rank, cell: null });
    cards.set(issueId, { rank, cell: { column, lane } });
  }
  return cards;
}

export function cardMoved(placed: Placed): Change {
  const { board, order, issueId, version, column, lane, rank, respacing } = placed;
  const id = `${board.id}/${issueId}`;
  const others = respacing?.others ?? [];
  const after: CardEntity = { id, version: 1, issueId, rank, column, lane, others };
  const writeOthers = (scope: Scope): Op[] => respacing?.ops(scope) ?? [];
  const otherMoveEvents = (): EventDraft[] => others.map((other) => moveEvent(board, other, null, null));
  return {
    kind: cardKind,
    id,
    before: null,
    after,
    baseVersion: null,
    isSilent: false,
    order,
    ops: (scope) => [
      ...writeOthers(scope),
      tenantOp(scope, put, { boardId: board.id, issueId, version, rank }, { expectRows: 1 }),
    ],
    isOfTeams: (ids) => board.teamId !== null && ids.has(board.teamId),
    events: () => [moveEvent(board, { issueId, rank }, column, lane), ...otherMoveEvents()],
    // Only the first change of a run on a board respaces ranks.
    followedBy: (later) => ({
      ...later,
      after: Object.assign({}, later.after, { others }),
      ops: (scope, view) => [...writeOthers(scope), ...later.ops(scope, view)],
      events: (view) => [...later.events(view), ...otherMoveEvents()],
    }),
  };
}

function moveEvent(
  { id, name }: Board,
  { issueId, rank }: Reranked,
  column: string | null,
  lane: string | null,
): EventDraft {
  return {
    type: 'board.card_moved',
    entityType: cardKind,
    entityId: issueId,
    subjectId: null,
    commitAssignedOf: null,
    data: { board: { id, name }, issue: { id: issueId }, column, lane, rank },
  };
}
