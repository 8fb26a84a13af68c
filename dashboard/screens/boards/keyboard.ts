// Focus on a board, and moves by keyboard: Space picks a card up, arrows move it, Space drops it, Escape cancels.
import { useRef, useState, type KeyboardEvent } from 'react';
import { text } from '../../text/boards.ts';
import { nameOf } from './card.tsx';
import {
  cellOf,
  isSamePlace,
  moved,
  neighbor,
  placeOf,
  type BoardState,
  type Card,
  type Place,
} from './model.ts';

const directions = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
} as const;

export interface Active {
  /** Empty for the button of a hidden column. */
  readonly id: string;
  readonly column: string;
  /** Grows with each move of the focus by the board. */
  readonly tick: number;
}

interface Carried {
  readonly card: Card;
  /** Column that the card came from. */
  readonly column: string;
  readonly to: Place;
}

interface Keyboard {
  readonly state: BoardState | undefined;
  readonly move: (card: Card, from: Place, to: Place) => Promise<boolean>;
  readonly mayMove: boolean;
  readonly announce: (message: string) => void;
}

/** Focus of the board. It follows the focus of the page, and moves it. */
function useActive() {
  const [active, setActive] = useState<Active | null>(null);
  const ticks = useRef(0);
  const focus = (id: string, column: string): void => setActive({ id, column, tick: ++ticks.current });
  const follow = (id: string, column: string): void =>
    setActive((before) =>
      before?.id === id && before.column === column ? before : { id, column, tick: before?.tick ?? 0 },
    );
  const refocus = (): void => {
    if (active) focus(active.id, active.column);
  };
  return { active, focus, follow, refocus };
}

interface FocusedMove extends Pick<Keyboard, 'state' | 'move'> {
  readonly focus: (id: string, column: string) => void;
}

/** Returns a function that moves a card and the focus with it, or to the next card if its column is hidden. */
function useFocusedMove({ state, move, focus }: FocusedMove) {
  const focusMoved = (card: Card, from: Place, to: Place): void => {
    if (!state?.columns.some(({ key, isHidden }) => key === to.column && isHidden))
      return focus(card.id, to.column);
    const others = cellOf(state, from.column, from.lane)?.cards.filter(({ id }) => id !== card.id) ?? [];
    const next = others[from.index] ?? others.at(-1);
    focus(next?.id ?? '', next ? from.column : to.column);
  };
  return (card: Card, from: Place, to: Place): void => {
    focusMoved(card, from, to);
    void move(card, from, to).then((isMoved) => {
      if (!isMoved) focus(card.id, from.column);
    });
  };
}

export function useKeyboard({ state, move, mayMove, announce }: Keyboard) {
  const { active, focus, follow, refocus } = useActive();
  const [carried, setCarried] = useState<Carried | null>(null);
  const from = state && carried && placeOf(state, carried.card.id, carried.column);
  const shown = state && carried && from ? moved(state, carried.card, from, carried.to) : state;

  const moveFocused = useFocusedMove({ state, move, focus });
  const end = ({ card, column, to }: Carried, isDropped: boolean): void => {
    setCarried(null);
    if (isDropped && from && !isSamePlace(from, to)) return moveFocused(card, from, to);
    focus(card.id, column);
    announce(text.canceled(nameOf(card)));
  };
  const pressCarried = (key: string, by: Carried, of: BoardState): boolean => {
    if (key === ' ' || key === 'Enter') end(by, true);
    else if (key === 'Escape') end(by, false);
    else if (key in directions) {
      // The carried card is among the others here, as the person sees it.
      const to = neighbor(of, by.to, directions[key as Arrow], true);
      if (to) {
        setCarried({ ...by, to });
        focus(by.card.id, to.column);
      }
      announce(to ? placeText(of, by, to) : text.edge);
    } else return false;
    return true;
  };
  const pressFocused = (key: string, at: Place, of: BoardState): boolean => {
    const card = cardAt(of, at);
    if (key === ' ' && card && mayMove) {
      setCarried({ card, column: at.column, to: at });
      announce(text.pickedUp(nameOf(card)));
      return true;
    }
    if (!(key in directions)) return false;
    const next = neighbor(of, at, directions[key as Arrow], false);
    const target = next && cardAt(of, next);
    if (target) focus(target.id, next.column);
    return true;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const link = (event.target as HTMLElement).closest<HTMLElement>('[data-card]');
    if (!link || !shown || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = placeOf(shown, link.dataset['card']!, link.dataset['column']);
    const isHandled = carried
      ? pressCarried(event.key, carried, shown)
      : at !== null && pressFocused(event.key, at, shown);
    if (isHandled) event.preventDefault();
  };
  return {
    active,
    carried: carried && { id: carried.card.id, column: carried.to.column },
    shown,
    moveFocused,
    focus,
    follow,
    refocus,
    onKeyDown,
  };
}

type Arrow = keyof typeof directions;

const cardAt = (state: BoardState, { column, lane, index }: Place): Card | undefined =>
  cellOf(state, column, lane)?.cards[index];

/** @param state with the carried card at its present place */
function placeText(state: BoardState, { card, to: present }: Carried, to: Place): string {
  const isSameCell = present.column === to.column && present.lane === to.lane;
  const count = (cellOf(state, to.column, to.lane)?.count ?? 0) + Number(!isSameCell);
  const lane = state.lanes?.find(({ key }) => key === to.lane)?.title ?? null;
  return text.at(nameOf(card), titleOf(state, to.column), lane, to.index + 1, count);
}

export const titleOf = ({ columns }: BoardState, key: string): string =>
  columns.find((column) => column.key === key)?.title ?? key;
