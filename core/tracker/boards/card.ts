// The place of a card, as a change: its rank, and the event that tells of it. A card has no version of its own: it is put in its place
// while the issue stands as it was when the place was sought.
import type { Change, Entity, EventDraft, OrderVersion } from '../../changes/change.ts';
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

/** As a run stages it: the ranks that it writes, and the cell that the card was put into. */
interface CardEntity extends Entity, Reranked {
  readonly column: string;
  readonly lane: string | null;
  readonly others: readonly Reranked[];
}

export interface Placed extends Reranked {
  readonly board: Board;
  readonly order: OrderVersion;
  /** Of the issue, once it is changed; within a run it may be changed with the row, or before. */
  readonly version: number;
  readonly column: string;
  readonly lane: string | null;
  /** Others that make room, and the ops that write them. */
  readonly room: { readonly others: readonly Reranked[]; ops(scope: Scope): Op[] } | null;
}

export const cardKind = 'board_card';

/** A card whose rank a run has staged. */
export interface StagedCard {
  readonly rank: string;
  /** The cell that it was put into; null where only its rank was written anew. */
  readonly cell: { readonly column: string; readonly lane: string | null } | null;
}

/** Staged cards of a board, by the ids of their issues. */
export function stagedCards({ staged }: Context, board: Board): ReadonlyMap<string, StagedCard> {
  const cards = new Map<string, StagedCard>();
  for (const { kind, order, after } of staged?.changes ?? []) {
    if (kind !== cardKind || order?.id !== board.id) continue;
    const { issueId, rank, column, lane, others } = after as CardEntity;
    // Other cards got new ranks before the run moved them.
    for (const other of others)
      if (!cards.has(other.issueId)) cards.set(other.issueId, { rank: other.rank, cell: null });
    cards.set(issueId, { rank, cell: { column, lane } });
  }
  return cards;
}

export function cardMoved(placed: Placed): Change {
  const { board, order, issueId, version, column, lane, rank, room } = placed;
  const id = `${board.id}/${issueId}`;
  const others = room?.others ?? [];
  const after: CardEntity = { id, version: 1, issueId, rank, column, lane, others };
  const writeOthers = (scope: Scope): Op[] => room?.ops(scope) ?? [];
  const tellOthers = (): EventDraft[] => others.map((other) => moveEvent(board, other, null, null));
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
    events: () => [moveEvent(board, { issueId, rank }, column, lane), ...tellOthers()],
    // Only the first change of a run in a board makes room there.
    followedBy: (later) => ({
      ...later,
      after: Object.assign({}, later.after, { others }),
      ops: (scope) => [...writeOthers(scope), ...later.ops(scope)],
      events: (view) => [...later.events(view), ...tellOthers()],
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
    entityKind: cardKind,
    entityId: issueId,
    subjectId: null,
    learnsOf: null,
    data: { board: { id, name }, issue: { id: issueId }, column, lane, rank },
  };
}
