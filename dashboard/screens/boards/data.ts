// Reads a board, keeps it current, and moves its cards.
import { useQuery, type QueryKey } from '@tanstack/react-query';
import type { Client, TatamiEvent } from '@tatami/sdk/client';
import { useCallback, useEffect, useMemo, useRef, type RefObject } from 'react';
import { queryClient, useApp } from '../../data/provider.tsx';
import { notifyProblem } from '../../parts/toast.tsx';
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
  type Place,
} from './model.ts';

const perColumn = 50;
const pageSize = 100;
/** Time in which changes are gathered before the board is read again. */
const gatherMs = 80;

/** The key begins with `issues`, so that changed issues are replaced in the cards. */
const keyOf = (id: string): QueryKey => ['issues', 'board', id];

async function readPage(client: Client, id: string, cell: Cell) {
  return await client.boards.columnCards(id, cell.column, {
    limit: pageSize,
    fields: cardFields,
    ...(cell.cursor !== null && { after: cell.cursor }),
    ...(cell.lane !== null && { lane: cell.lane }),
  });
}

/** Reads as many cards of each cell as are shown, so that the scroll position stays. */
async function readBoard(client: Client, id: string, signal: AbortSignal): Promise<BoardState> {
  const before = queryClient.getQueryData<BoardState>(keyOf(id));
  const shown = (cell: Cell): number =>
    (before && cellOf(before, cell.column, cell.lane)?.cards.length) ?? cell.cards.length;
  let state = stateOf(await client.boards.cards(id, { perColumn, fields: cardFields }));
  // Further pages take time, and most changes are among the first cards.
  if (before && !signal.aborted) queryClient.setQueryData(keyOf(id), withTails(state, before));
  for (const { column, lane } of state.items) {
    for (;;) {
      const cell = cellOf(state, column, lane)!;
      if (!cell.hasMore || cell.cards.length >= shown(cell) || signal.aborted) break;
      const { data, pageInfo } = await readPage(client, id, cell);
      state = withPage(state, cell, data as readonly Card[], pageInfo);
    }
  }
  return state;
}

/** Returns true for events after which the cards of a board may be others, or in another order. */
function concerns({ type, data }: TatamiEvent, id: string): boolean {
  if (type === 'board.card_moved') return (data as { board?: { id?: string } }).board?.id === id;
  const noun = type.split('.')[0]!;
  return noun === 'issue' || noun === 'workflow' || (noun === 'board' && (data as { id?: string }).id === id);
}

export interface OpenBoard {
  readonly state: BoardState | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
  readonly loadMore: (cell: Cell) => Promise<void>;
  /** Returns true if the server accepted the move. */
  readonly move: (card: Card, from: Place, to: Place) => Promise<boolean>;
}

/** Reads a board again after events that concern it. */
function useRereads(id: string, reread: () => void): void {
  const { live } = useApp();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const stop = live.listen((event) => {
      if (!concerns(event, id)) return;
      timer ??= setTimeout(() => {
        timer = null;
        reread();
      }, gatherMs);
    });
    return () => {
      stop();
      if (timer) clearTimeout(timer);
    };
  }, [live, id, reread]);
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

function useMore(client: Client, id: string, key: QueryKey): OpenBoard['loadMore'] {
  const loading = useRef(new Set<string>());
  return useCallback(
    async (cell: Cell): Promise<void> => {
      const name = cellKey(cell.column, cell.lane);
      if (loading.current.has(name)) return;
      loading.current.add(name);
      try {
        const { data, pageInfo } = await readPage(client, id, cell);
        changeBoard(key, (state) => withPage(state, cell, data as readonly Card[], pageInfo));
      } catch (error) {
        notifyProblem(error);
      } finally {
        loading.current.delete(name);
      }
    },
    [client, id, key],
  );
}

export function useBoard(id: string, isManual: boolean): OpenBoard {
  const { client } = useApp();
  const key = useMemo(() => keyOf(id), [id]);
  const board = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => readBoard(client, id, signal),
    meta: { followsEvents: true },
  });
  const pending = useRef(0);
  const reread = useReread(key, pending);
  useRereads(id, reread);
  const loadMore = useMore(client, id, key);
  const move = useCallback(
    async (card: Card, from: Place, to: Place): Promise<boolean> => {
      const state = queryClient.getQueryData<BoardState>(key);
      if (!state) return false;
      const request = requestOf(state, { card, from, to, isManual });
      pending.current++;
      void queryClient.cancelQueries({ queryKey: key });
      changeBoard(key, (before) => moved(before, card, from, to));
      try {
        await client.boards.move(id, request);
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
    [client, id, key, isManual, reread],
  );
  return { state: board.data, error: board.error, retry: () => void board.refetch(), loadMore, move };
}
