// Reads a board, keeps it current, and moves its cards.
import { useQuery, type QueryKey } from '@tanstack/react-query';
import type { Client, IssueBoard, PageInfo, TatamiEvent } from '@tatami/sdk/client';
import { useCallback, useEffect, useRef, type RefObject } from 'react';
import { queryClient, useApp } from '../../data/provider.tsx';
import { notifyProblem } from '../../parts/overlay/toast.tsx';
import {
  cardFields,
  cellKey,
  cellOf,
  moved,
  placeOf,
  requestOf,
  stateOf,
  withPage,
  withTails,
  type BoardState,
  type Card,
  type Cell,
  type Move,
  type Place,
} from './model.ts';

const perColumn = 50;
const pageSize = 100;
/** Time in which changes are gathered before the board is read again. */
const gatherMs = 80;

interface PageOfCell {
  readonly data: readonly unknown[];
  readonly pageInfo: PageInfo;
}

interface CellRequest {
  readonly limit: number;
  readonly fields: string;
  readonly after?: string;
  readonly lane?: string;
}

/** Requests of a board: a stored one, or the issues of a list. */
export interface BoardSource {
  /** Begins with `issues`, so that changed issues are replaced in the cards. */
  readonly key: QueryKey;
  /** True if the cards have the order of their moves. */
  readonly isManual: boolean;
  readonly read: (
    client: Client,
    request: { readonly perColumn: number; readonly fields: string },
  ) => Promise<IssueBoard>;
  readonly readCell: (client: Client, column: string, request: CellRequest) => Promise<PageOfCell>;
  /** @param state before the move */
  readonly move: (client: Client, state: BoardState, move: Move) => Promise<unknown>;
  /** Returns true for events of the board itself after which its cards may be others, or in another order. */
  readonly concerns: (event: TatamiEvent) => boolean;
}

export function storedBoard(id: string, isManual: boolean): BoardSource {
  return {
    key: ['issues', 'board', id],
    isManual,
    read: (client, request) => client.boards.cards(id, request),
    readCell: async (client, column, request) => await client.boards.columnCards(id, column, request),
    move: (client, state, move) => client.boards.move(id, requestOf(state, { ...move, isManual })),
    concerns: ({ type, data }) =>
      type === 'board.card_moved'
        ? (data as { board?: { id?: string } }).board?.id === id
        : type.startsWith('board.') && (data as { id?: string }).id === id,
  };
}

const readPage = (client: Client, source: BoardSource, { column, lane, cursor }: Cell): Promise<PageOfCell> =>
  source.readCell(client, column, {
    limit: pageSize,
    fields: cardFields,
    ...(cursor !== null && { after: cursor }),
    ...(lane !== null && { lane }),
  });

/** Reads as many cards of each cell as are shown, so that the scroll position stays. */
async function readBoard(client: Client, source: BoardSource, signal: AbortSignal): Promise<BoardState> {
  const before = queryClient.getQueryData<BoardState>(source.key);
  const shown = (cell: Cell): number =>
    (before && cellOf(before, cell.column, cell.lane)?.cards.length) ?? cell.cards.length;
  let state = stateOf(await source.read(client, { perColumn, fields: cardFields }));
  // Further pages take time, and most changes are among the first cards.
  if (before && !signal.aborted) queryClient.setQueryData(source.key, withTails(state, before));
  for (const { column, lane } of state.items) {
    for (;;) {
      const cell = cellOf(state, column, lane)!;
      if (!cell.hasMore || cell.cards.length >= shown(cell) || signal.aborted) break;
      const { data, pageInfo } = await readPage(client, source, cell);
      state = withPage(state, cell, data as readonly Card[], pageInfo);
    }
  }
  return state;
}

/** Events after which the cards of every board may be others. */
const ofCards = /^(issue|workflow)\./;

export interface OpenBoard {
  readonly state: BoardState | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
  readonly loadMore: (cell: Cell) => Promise<void>;
  /** Returns true if the server accepted the move. */
  readonly move: (card: Card, from: Place, to: Place) => Promise<boolean>;
}

/** Reads a board again after events that concern it. */
function useRereads(source: BoardSource, reread: () => void): void {
  const { live } = useApp();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const stop = live.listen((event) => {
      if (!ofCards.test(event.type) && !source.concerns(event)) return;
      timer ??= setTimeout(() => {
        timer = null;
        reread();
      }, gatherMs);
    });
    return () => {
      stop();
      if (timer) clearTimeout(timer);
    };
  }, [live, source, reread]);
}

/** Returns a function that reads the board again, once more if it is called meanwhile. */
function useReread(key: QueryKey, pending: RefObject<number>): () => void {
  const isReading = useRef(false);
  const isStale = useRef(false);
  return useCallback(() => {
    isStale.current = true;
    const read = async (): Promise<void> => {
      isReading.current = true;
      // An answer from before a move would show the card at its old place.
      while (isStale.current && pending.current === 0) {
        isStale.current = false;
        await queryClient.invalidateQueries({ queryKey: key });
      }
      isReading.current = false;
    };
    if (!isReading.current) void read();
  }, [key, pending]);
}

const changeBoard = (key: QueryKey, to: (state: BoardState) => BoardState): void =>
  void queryClient.setQueryData<BoardState>(key, (state) => state && to(state));

function useMore(client: Client, source: BoardSource): OpenBoard['loadMore'] {
  const loading = useRef(new Set<string>());
  return useCallback(
    async (cell: Cell): Promise<void> => {
      const name = cellKey(cell.column, cell.lane);
      if (loading.current.has(name)) return;
      loading.current.add(name);
      try {
        const { data, pageInfo } = await readPage(client, source, cell);
        changeBoard(source.key, (state) => withPage(state, cell, data as readonly Card[], pageInfo));
      } catch (error) {
        notifyProblem(error);
      } finally {
        loading.current.delete(name);
      }
    },
    [client, source],
  );
}

/** @param source the same object while the board is the same */
export function useBoard(source: BoardSource): OpenBoard {
  const { client } = useApp();
  const { key } = source;
  const board = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => readBoard(client, source, signal),
    meta: { followsEvents: true },
  });
  const pending = useRef(0);
  const reread = useReread(key, pending);
  useRereads(source, reread);
  const loadMore = useMore(client, source);
  const move = useCallback(
    async (card: Card, from: Place, to: Place): Promise<boolean> => {
      const state = queryClient.getQueryData<BoardState>(key);
      const isSameCell = from.column === to.column && from.lane === to.lane;
      if (!state || (isSameCell && !source.isManual)) return false;
      pending.current++;
      void queryClient.cancelQueries({ queryKey: key });
      changeBoard(key, (before) => moved(before, card, from, to));
      try {
        await source.move(client, state, { card, from, to });
        return true;
      } catch (error) {
        changeBoard(key, (after) => moved(after, card, placeOf(after, card.id, to.column) ?? to, from));
        notifyProblem(error);
        return false;
      } finally {
        pending.current--;
        reread();
      }
    },
    [client, source, key, reread],
  );
  return { state: board.data, error: board.error, retry: () => void board.refetch(), loadMore, move };
}
