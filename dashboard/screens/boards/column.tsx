// Virtual list of the cards of a column, or of one lane of it.
import { dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { defaultRangeExtractor, useVirtualizer, type Range, type Virtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { useMay } from '../../data/provider.tsx';
import { text } from '../../text/boards.ts';
import styles from './board.module.css';
import { CardView, nameOf } from './card.tsx';
import { isOver, type Card, type Cell, type Column } from './model.ts';
import { QuickCreate } from './quick-create.tsx';

export interface ColumnActions {
  readonly onFocus: (id: string, column: string) => void;
  /** Null if the person may not move cards. */
  readonly onMove: ((card: Card, column: string) => void) | null;
  readonly onMore: (cell: Cell) => Promise<void>;
  readonly onHide: (column: string) => void;
}

interface ColumnProps {
  readonly column: Column;
  readonly cell: Cell;
  readonly laneTitle: string | null;
  /** Null if the active card is in another cell. */
  readonly activeId: string | null;
  readonly tick: number;
  readonly carriedId: string | null;
  /** True if the settings hide the column, and the person opened it. */
  readonly isOpened: boolean;
  readonly actions: ColumnActions;
}

export const ColumnView = memo(function ColumnView(props: ColumnProps): ReactNode {
  const { column, cell, laneTitle, isOpened, actions } = props;
  const mayCreate = useMay('issues:write');
  const Heading = laneTitle === null ? 'h2' : 'h3';
  return (
    <section className={styles.column} data-over={isOver(column)}>
      <header className="row">
        <Heading className="grow cut">{column.title}</Heading>
        <span className="soft">
          {laneTitle === null ? text.countOf(column.count, column.limit) : cell.count}
        </span>
        {isOpened && (
          <button
            type="button"
            className={styles.move}
            aria-label={text.hideColumn(column.title)}
            // The button that opened the column is gone.
            autoFocus
            onClick={() => actions.onHide(column.key)}
          >
            ✕
          </button>
        )}
        {laneTitle === null && mayCreate && <QuickCreate column={column} />}
      </header>
      {isOver(column) && <p className={styles.over}>{text.over(column.count, column.limit)}</p>}
      <Cards {...props} />
    </section>
  );
});

function Cards(props: ColumnProps): ReactNode {
  const { column, cell, laneTitle, activeId, tick, carriedId, actions } = props;
  const { cards } = cell;
  const scroller = useRef<HTMLDivElement>(null);
  const tabStop = Math.max(0, activeId === null ? 0 : cards.findIndex(({ id }) => id === activeId));
  const list = useVirtualizer({
    count: cards.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 104,
    getItemKey: (index) => cards[index]!.id,
    overscan: 3,
    // The card that Tab reaches stays mounted, so that scrolling does not lose the focus.
    rangeExtractor: (range) => withIndex(range, tabStop),
  });
  const dropAt = useDropTarget(scroller, list, cell);
  useEffect(() => {
    if (activeId !== null && tick > 0) list.scrollToIndex(tabStop, { align: 'auto' });
    // Only a move of the focus scrolls; changes by others do not.
  }, [activeId, tick]);
  useFurtherCards(cell, list.range?.endIndex ?? -1, actions.onMore);
  return (
    <div ref={scroller} className={styles.scroller}>
      <ul
        role="list"
        aria-label={laneTitle === null ? column.title : text.cellName(column.title, laneTitle)}
        className={styles.list}
        style={{ height: list.getTotalSize() }}
      >
        {list.getVirtualItems().map(({ index, key, start }) => {
          const card = cards[index]!;
          return (
            <li
              key={key}
              ref={list.measureElement}
              data-index={index}
              aria-label={nameOf(card)}
              aria-posinset={index + 1}
              aria-setsize={cell.count}
              className={styles.item}
              style={{ transform: `translateY(${start}px)` }}
            >
              <CardView
                card={card}
                column={column.key}
                isTabStop={index === tabStop}
                isCarried={card.id === carriedId}
                focusTick={card.id === activeId ? tick : 0}
                onFocus={actions.onFocus}
                onMove={actions.onMove}
              />
            </li>
          );
        })}
      </ul>
      {dropAt !== null && <DropLine top={offsetOf(list, dropAt)} />}
    </div>
  );
}

/** Loads the next page when the last cards of the loaded ones are shown. */
function useFurtherCards(cell: Cell, last: number, load: ColumnActions['onMore']): void {
  useEffect(() => {
    if (cell.hasMore && last >= cell.cards.length - 10) void load(cell);
  }, [cell, last, load]);
}

function DropLine({ top }: { readonly top: number }): ReactNode {
  return <div className={styles.drop} style={{ transform: `translateY(${top}px)` }} />;
}

function withIndex(range: Range, index: number): number[] {
  const shown = defaultRangeExtractor(range);
  if (range.count === 0 || shown.includes(index)) return shown;
  return [...shown, index].toSorted((a, b) => a - b);
}

type List = Virtualizer<HTMLDivElement, Element>;

const offsetOf = (list: List, index: number): number =>
  list.measurementsCache[index]?.start ?? list.getTotalSize();

/** Returns the index of the card that the dragged one would precede. */
function indexAt(list: List, scroller: HTMLElement, clientY: number): number {
  const offset = clientY - scroller.getBoundingClientRect().top + scroller.scrollTop;
  const item = list.options.count === 0 ? undefined : list.getVirtualItemForOffset(offset);
  if (!item) return 0;
  return offset > item.start + item.size / 2 ? item.index + 1 : item.index;
}

const edge = 48;

/** Scrolls while a card is dragged near the upper or lower edge. */
function scrollAtEdge(scroller: HTMLElement, clientY: number): void {
  const { top, bottom } = scroller.getBoundingClientRect();
  if (clientY < top + edge) scroller.scrollTop -= 12;
  else if (clientY > bottom - edge) scroller.scrollTop += 12;
}

/** Accepts dragged cards. @returns index before which the line is shown */
function useDropTarget(scroller: RefObject<HTMLDivElement | null>, list: List, cell: Cell): number | null {
  const [dropAt, setDropAt] = useState<number | null>(null);
  const current = useRef(cell);
  current.current = cell;
  const { column, lane } = cell;
  useEffect(() => {
    const element = scroller.current!;
    const reset = (): void => setDropAt(null);
    return dropTargetForElements({
      element,
      canDrop: ({ source }) => typeof source.data['cardId'] === 'string',
      getData: ({ input, source }) => {
        const at = indexAt(list, element, input.clientY);
        const own = current.current.cards.findIndex(({ id }) => id === source.data['cardId']);
        return { column, lane, at, index: own >= 0 && own < at ? at - 1 : at };
      },
      onDrag: ({ self, location }) => {
        scrollAtEdge(element, location.current.input.clientY);
        setDropAt(self.data['at'] as number);
      },
      onDragLeave: reset,
      onDrop: reset,
    });
  }, [scroller, list, column, lane]);
  return dropAt;
}
