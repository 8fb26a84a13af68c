// Hidden columns: a list at the side of the board. Each takes cards, and opens as a column.
import { dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Button, buttonClass } from '../../parts/button.tsx';
import { text } from '../../text/boards.ts';
import styles from './board.module.css';
import { useFocus } from './card.tsx';
import type { Active } from './keyboard.ts';
import type { Column } from './model.ts';

interface HiddenColumnsProps {
  readonly columns: readonly Column[];
  readonly active: Active | null;
  /** Card that a person carries by keyboard, and the column that it is in. */
  readonly carried: { readonly id: string; readonly column: string } | null;
  readonly onShow: (column: string) => void;
}

export function HiddenColumns({ columns, active, carried, onShow }: HiddenColumnsProps): ReactNode {
  if (columns.length === 0) return null;
  return (
    <section className={styles.side}>
      <h2>{text.hiddenColumns}</h2>
      <ul className="stack">
        {columns.map((column) => (
          <HiddenColumn
            key={column.key}
            column={column}
            cardId={carried?.column === column.key ? carried.id : null}
            focusTick={active?.column === column.key ? active.tick : 0}
            onShow={onShow}
          />
        ))}
      </ul>
    </section>
  );
}

interface HiddenColumnProps {
  readonly column: Column;
  /** Id of a carried card in this column. */
  readonly cardId: string | null;
  /** Grows when the column receives the focus; 0 if it has none. */
  readonly focusTick: number;
  readonly onShow: (column: string) => void;
}

function HiddenColumn({ column, cardId, focusTick, onShow }: HiddenColumnProps): ReactNode {
  const { key, title, count } = column;
  const { element, isOver } = useDropTarget(key);
  useFocus(element, focusTick);
  return (
    <li>
      <Button
        ref={element}
        // Keys act on a carried card through the element that has the focus.
        {...(cardId !== null && { 'data-card': cardId, 'data-column': key })}
        className={`${buttonClass()} ${styles.closed}`}
        data-over={isOver || cardId !== null}
        onClick={() => cardId === null && onShow(key)}
      >
        {text.showColumn(title, count)}
      </Button>
    </li>
  );
}

/** Accepts dragged cards. They stay in their lane. */
function useDropTarget(column: string) {
  const element = useRef<HTMLButtonElement>(null);
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const leave = (): void => setOver(false);
    return dropTargetForElements({
      element: element.current!,
      canDrop: ({ source }) => typeof source.data['cardId'] === 'string',
      getData: () => ({ column, index: 0 }),
      onDragEnter: () => setOver(true),
      onDragLeave: leave,
      onDrop: leave,
    });
  }, [column]);
  return { element, isOver };
}
