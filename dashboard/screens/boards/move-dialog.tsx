// Moves a card without dragging: by touch, by keyboard and by screen reader.
import { useRef, useState, type ReactNode } from 'react';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form, SelectField } from '../../parts/fields.tsx';
import { text } from '../../text/boards.ts';
import { placeOf, type BoardState, type Card, type Place } from './model.ts';

interface MoveProps {
  readonly state: BoardState;
  readonly card: Card;
  readonly column: string;
  readonly isManual: boolean;
  readonly onMove: (card: Card, from: Place, to: Place) => void;
  readonly onClose: () => void;
}

export function MoveDialog({ state, card, column, isManual, onMove, onClose }: MoveProps): ReactNode {
  const from = placeOf(state, card.id, column);
  const [toColumn, setColumn] = useState(column);
  const [toLane, setLane] = useState(from?.lane ?? '');
  const [position, setPosition] = useState('top');
  const lane = state.lanes === null ? null : toLane;
  const isSubmitted = useRef(false);
  const submit = (): Promise<void> => {
    isSubmitted.current = true;
    return Promise.resolve();
  };
  // The card takes the focus, which an open dialog would prevent.
  const done = (): void => {
    onClose();
    const index = position === 'top' ? 0 : Infinity;
    if (from && isSubmitted.current) onMove(card, from, { column: toColumn, lane, index });
  };
  return (
    <Dialog title={text.moveCard(card.identifier ?? card.title)} isOpen onClose={onClose}>
      <Form submit={text.move} onSubmit={submit} onDone={done}>
        <SelectField
          label={text.column}
          value={toColumn}
          options={state.columns.map(({ key, title, isHidden }) => [
            key,
            isHidden ? text.hiddenName(title) : title,
          ])}
          onPick={setColumn}
        />
        {state.lanes && (
          <SelectField
            label={text.lane}
            value={toLane}
            options={state.lanes.map(({ key, title }) => [key, title])}
            onPick={setLane}
          />
        )}
        {isManual && (
          <SelectField
            label={text.position}
            value={position}
            options={[
              ['top', text.positions.top],
              ['bottom', text.positions.bottom],
            ]}
            onPick={setPosition}
          />
        )}
      </Form>
    </Dialog>
  );
}
