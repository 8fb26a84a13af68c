// The place of a card, as a change: its rank, and the event that tells of it. A card has no version of its own: it is put in its place
// while the issue stands as it was when the place was sought.
import type { Change, Entity, EventDraft } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../store/store.ts';
import type { Board } from './kind.ts';

/** Loses the race where the issue changed meanwhile, or the place was taken. */
const put = tenantStatement(
  'board_cards.put',
  `INSERT INTO board_cards (workspace_id, board_id, issue_id, rank)
   SELECT :ws, :boardId, i.id, :rank FROM issues AS i
   WHERE i.workspace_id = :ws AND i.id = :issueId AND i.version IN (:version - 1, :version) AND i.deleted_at IS NULL
   ON CONFLICT (workspace_id, board_id, issue_id) DO UPDATE SET rank = :rank`,
);

/** A card whose rank is written anew, to make room; it stands where it stood. */
export interface Reranked {
  readonly issueId: string;
  readonly rank: string;
}

export interface Placed extends Reranked {
  readonly board: Board;
  /** Of the issue, once it is changed; within a run it may be changed with the row, or before. */
  readonly version: number;
  readonly column: string;
  readonly lane: string | null;
  /** Others that make room, and the ops that write them. */
  readonly room: { readonly others: readonly Reranked[]; ops(scope: Scope): Op[] } | null;
}

export const cardKind = 'board_card';

/** What a run has staged of the rank of a card. */
export function stagedRank({ staged }: Context, board: Board, issueId: string): string | undefined {
  return (staged?.find(cardKind, idOf(board, issueId)) as (Entity & Reranked) | undefined)?.rank;
}

const idOf = (board: Board, issueId: string): string => `${board.id}/${issueId}`;

export function cardMoved({ board, issueId, version, column, lane, rank, room }: Placed): Change {
  const id = idOf(board, issueId);
  return {
    kind: cardKind,
    id,
    before: null,
    after: Object.assign({ id, version: 1 }, { issueId, rank } satisfies Reranked),
    baseVersion: null,
    isSilent: false,
    contends: board.id,
    ops: (scope) => [
      ...(room?.ops(scope) ?? []),
      tenantOp(scope, put, { boardId: board.id, issueId, version, rank }, { expectRows: 1 }),
    ],
    isOfTeams: (ids) => board.teamId !== null && ids.has(board.teamId),
    events: () => [
      moveEvent(board, { issueId, rank }, column, lane),
      ...(room?.others ?? []).map((other) => moveEvent(board, other, null, null)),
    ],
    followedBy: (later) => later,
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
    entityKind: cardKind,
    entityId: issueId,
    subjectId: null,
    learnsOf: null,
    data: { board: { id, name }, issue: { id: issueId }, column, lane, rank },
  };
}
