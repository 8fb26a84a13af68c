// Columns of a board, with moves by mouse, by key and by the dialog.
import { monitorForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { lazy, Suspense, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { notify } from '../../parts/overlay/toast.tsx';
import { text } from '../../text/boards.ts';
import { text as common } from '../../text/common.ts';
import styles from './board.module.css';
import { nameOf } from './card.tsx';
import { ColumnView, type ColumnActions } from './column.tsx';
import type { OpenBoard } from './data.ts';
import { HiddenColumns } from './hidden.tsx';
import { titleOf, useKeyboard } from './keyboard.ts';
import { cellKey, cellOf, placeOf, type BoardState, type Card, type Place } from './model.ts';

const MoveDialog = lazy(() => import('./move-dialog.tsx').then((file) => ({ default: file.MoveDialog })));

interface ColumnsProps {
  readonly open: OpenBoard;
  readonly state: BoardState;
  /** True if the cards have the order of their moves. */
  readonly isManual: boolean;
  readonly mayMove: boolean;
  /** Renders the side panel. @param onClose returns the focus to the card */
  readonly peek: (onClose: () => void) => ReactNode;
}

/** Moves a card, and reports the result with an undo. */
function useMoves({ open, state }: Pick<ColumnsProps, 'open' | 'state'>) {
  const [message, setMessage] = useState('');
  const current = useRef(state);
  current.current = state;
  const undo = async (card: Card, from: Place, to: Place): Promise<void> => {
    // Other cards may have moved meanwhile.
    const at = placeOf(current.current, card.id, to.column) ?? to;
    const isBack = await open.move(card, at, from);
    if (isBack) notify(text.movedBack(nameOf(card), titleOf(current.current, from.column)));
    else setMessage(text.notMoved(nameOf(card)));
  };
  const move = async (card: Card, from: Place, to: Place): Promise<boolean> => {
    const title = titleOf(state, to.column);
    const isMoved = await open.move(card, from, to);
    if (!isMoved) {
      setMessage(text.notMoved(nameOf(card)));
      return false;
    }
    const target = state.columns.find(({ key }) => key === to.column);
    const count = (target?.count ?? 0) + Number(from.column !== to.column);
    const limit = target?.limit ?? null;
    const isOver = limit !== null && count > limit;
    // The message is announced, too.
    setMessage('');
    notify(
      [text.dropped(nameOf(card), title), ...(isOver ? [text.overLimit(title, count, limit)] : [])].join(' '),
      { label: common.undo, run: () => void undo(card, from, to) },
    );
    return true;
  };
  return { message, setMessage, move };
}

/** Returns actions that never change, so that only the cards that changed are rendered. */
function useStable(actions: ColumnActions): ColumnActions {
  const mayMove = actions.onMove !== null;
  const current = useRef(actions);
  current.current = actions;
  return useMemo(
    () => ({
      onFocus: (id, column) => current.current.onFocus(id, column),
      onMove: mayMove ? (card, column) => current.current.onMove?.(card, column) : null,
      onMore: (cell) => current.current.onMore(cell),
      onHide: (column) => current.current.onHide(column),
    }),
    [mayMove],
  );
}

export function Columns({ open, state: read, isManual, mayMove, peek }: ColumnsProps): ReactNode {
  const [opened, setOpened] = useState<readonly string[]>([]);
  const [moving, setMoving] = useState<{ readonly card: Card; readonly column: string } | null>(null);
  const state = useMemo(() => withOpened(read, opened), [read, opened]);
  const { message, setMessage, move } = useMoves({ open, state });
  const keyboard = useKeyboard({ state, move, mayMove, announce: setMessage });
  const actions = useStable({
    onFocus: keyboard.follow,
    onMove: mayMove ? (card, column) => setMoving({ card, column }) : null,
    onMore: open.loadMore,
    onHide: (column) => {
      setOpened(opened.filter((one) => one !== column));
      keyboard.focus('', column);
    },
  });
  const element = useDrops(state, keyboard.moveFocused);
  const shown = keyboard.shown ?? state;
  return (
    <div className={styles.split}>
      <div className={styles.area} onKeyDown={keyboard.onKeyDown}>
        <div ref={element} className={styles.board} data-lanes={state.lanes !== null}>
          {(shown.lanes ?? [null]).map((lane) => (
            <Lane
              key={lane?.key ?? ''}
              lane={lane}
              state={shown}
              opened={opened}
              keyboard={keyboard}
              actions={actions}
            />
          ))}
        </div>
        <HiddenColumns
          columns={shown.columns.filter(({ isHidden }) => isHidden)}
          active={keyboard.active}
          carried={keyboard.carried}
          onShow={(column) => setOpened([...opened, column])}
        />
      </div>
      <div role="status" aria-live="assertive" className="only-read">
        {message}
      </div>
      <p id="board-keys" className={styles.keys}>
        {keyboard.carried ? text.carryingKeys : mayMove ? text.keys : text.readOnly}
      </p>
      <Suspense fallback={null}>
        {moving && mayMove && (
          <MoveDialog
            state={state}
            {...moving}
            isManual={isManual}
            onMove={keyboard.moveFocused}
            onClose={() => setMoving(null)}
          />
        )}
      </Suspense>
      {peek(keyboard.refocus)}
    </div>
  );
}

interface LaneProps {
  readonly lane: { readonly key: string; readonly title: string; readonly count: number } | null;
  readonly state: BoardState;
  readonly opened: readonly string[];
  readonly keyboard: ReturnType<typeof useKeyboard>;
  readonly actions: ColumnActions;
}

function Lane({ lane, state, opened, keyboard, actions }: LaneProps): ReactNode {
  const { active } = keyboard;
  const carriedId = keyboard.carried?.id ?? null;
  const place = active && placeOf(state, active.id, active.column);
  const activeCell = place && cellKey(place.column, place.lane);
  const columns = state.columns.map((column) => {
    if (column.isHidden) return null;
    const cell = cellOf(state, column.key, lane?.key ?? null);
    if (!cell) return null;
    // Other columns keep their properties, so that a move of the focus does not render them.
    const isActive = active !== null && activeCell === cellKey(cell.column, cell.lane);
    return (
      <ColumnView
        key={column.key}
        column={column}
        cell={cell}
        laneTitle={lane?.title ?? null}
        activeId={isActive ? active.id : null}
        tick={isActive ? active.tick : 0}
        carriedId={isActive ? carriedId : null}
        isOpened={opened.includes(column.key)}
        actions={actions}
      />
    );
  });
  if (!lane) return columns;
  return (
    <details open={lane.count > 0}>
      <summary>
        <h2 className={styles.lane}>{lane.title}</h2> <span className="soft">{text.cards(lane.count)}</span>
      </summary>
      <div className={styles.row}>{columns}</div>
    </details>
  );
}

function withOpened(state: BoardState, opened: readonly string[]): BoardState {
  if (opened.length === 0) return state;
  const columns = state.columns.map((column) =>
    opened.includes(column.key) ? { ...column, isHidden: false } : column,
  );
  return { ...state, columns };
}

/** Hidden columns name no lane. */
type DropData = Omit<Place, 'lane'> & Partial<Pick<Place, 'lane'>>;

const edge = 64;

/** Moves the cards that are dropped, and scrolls the board while one is dragged to its side. */
function useDrops(state: BoardState, move: (card: Card, from: Place, to: Place) => void) {
  const element = useRef<HTMLDivElement>(null);
  const current = useRef({ state, move });
  current.current = { state, move };
  useEffect(
    () =>
      monitorForElements({
        // The side panel has a list of its own.
        canMonitor: ({ source }) => typeof source.data['cardId'] === 'string',
        onDrag: ({ location }) => {
          const { left, right } = element.current!.getBoundingClientRect();
          const { clientX } = location.current.input;
          if (clientX < left + edge) element.current!.scrollLeft -= 12;
          else if (clientX > right - edge) element.current!.scrollLeft += 12;
        },
        onDrop: ({ source, location }) => {
          const target = location.current.dropTargets[0]?.data as DropData | undefined;
          const { cardId, column } = source.data as { cardId: string; column: string };
          const from = placeOf(current.current.state, cardId, column);
          const card = from && cellOf(current.current.state, from.column, from.lane)?.cards[from.index];
          if (!target || !card) return;
          const { lane = from.lane, index } = target;
          const isSame = from.column === target.column && from.lane === lane && from.index === index;
          if (!isSame) current.current.move(card, from, { column: target.column, lane, index });
        },
      }),
    [],
  );
  return element;
}
