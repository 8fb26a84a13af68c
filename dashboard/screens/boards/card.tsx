import { draggable } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { Link } from '@tanstack/react-router';
import { memo, useEffect, useRef, type ReactNode, type RefObject } from 'react';
import { Avatar, PriorityIcon } from '../../parts/issue/symbols.tsx';
import { text } from '../../text/boards.ts';
import styles from './board.module.css';
import type { Card } from './model.ts';

interface CardProps {
  readonly card: Card;
  readonly column: string;
  readonly isTabStop: boolean;
  readonly isCarried: boolean;
  /** Changes when the card receives the focus; 0 if it has none. */
  readonly focusTick: number;
  /** Both are stable, so that a card is rendered only when it changed. */
  readonly onFocus: (id: string, column: string) => void;
  /** Null if the person may not move cards. */
  readonly onMove: ((card: Card, column: string) => void) | null;
}

/** The name of a card for messages and screen readers. */
export const nameOf = ({ identifier, title }: Card): string => `${identifier ?? ''} ${title}`.trim();

export const CardView = memo(function CardView(props: CardProps): ReactNode {
  const { card, column, isTabStop, isCarried, onFocus, onMove } = props;
  const element = useDraggable(card, column, onMove !== null);
  const link = useRef<HTMLAnchorElement>(null);
  useFocus(link, props.focusTick);
  const tabIndex = isTabStop ? 0 : -1;
  return (
    <article ref={element} className={styles.card} data-carried={isCarried}>
      <div className="row">
        <span className="soft grow">{card.identifier}</span>
        {onMove && (
          <button
            type="button"
            className={styles.move}
            tabIndex={tabIndex}
            aria-label={text.moveTo}
            onClick={() => onMove(card, column)}
          >
            <svg width="16" height="4" aria-hidden="true">
              {[2, 8, 14].map((x) => (
                <circle key={x} cx={x} cy="2" r="1.5" fill="currentColor" />
              ))}
            </svg>
          </button>
        )}
      </div>
      <Link
        ref={link}
        to="."
        search={((before: object) => ({ ...before, peek: card.identifier ?? card.id })) as never}
        preload={false}
        draggable={false}
        className={styles.title}
        tabIndex={tabIndex}
        aria-describedby="board-keys"
        data-card={card.id}
        data-column={column}
        onFocus={() => onFocus(card.id, column)}
      >
        {card.title}
      </Link>
      <Fields card={card} />
    </article>
  );
});

function Fields({ card }: { readonly card: Card }): ReactNode {
  const { priority, labels, assignee, estimate, dueDate } = card;
  return (
    <div className="row wrap">
      {priority !== 'none' && <PriorityIcon priority={priority} />}
      {labels.slice(0, 3).map(({ id, name }) => (
        <span key={id} className="chip">
          <span className="cut">{name}</span>
        </span>
      ))}
      {labels.length > 3 && <span className="soft">+{labels.length - 3}</span>}
      {estimate !== null && <span className="chip">{text.estimate(estimate)}</span>}
      {dueDate !== null && <span className="chip">{text.due(dueDate)}</span>}
      <span className="grow" />
      {assignee && <Avatar name={assignee.name} />}
    </div>
  );
}

function useDraggable(card: Card, column: string, mayMove: boolean) {
  const element = useRef<HTMLElement>(null);
  useEffect(
    () =>
      mayMove
        ? draggable({ element: element.current!, getInitialData: () => ({ cardId: card.id, column }) })
        : undefined,
    [card.id, column, mayMove],
  );
  return element;
}

/** Focuses an element of the board when the tick grows, unless the person is at another part of the page. */
export function useFocus(element: RefObject<HTMLElement | null>, tick: number): void {
  useEffect(() => {
    const active = document.activeElement;
    const isHere = active === document.body || active?.closest(`.${styles.area}`);
    // A dialog that closes at the same time returns the focus first.
    if (tick > 0 && isHere) queueMicrotask(() => element.current?.focus({ preventScroll: true }));
  }, [element, tick]);
}
