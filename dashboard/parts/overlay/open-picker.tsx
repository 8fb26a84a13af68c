// List of a picker, with the button that opens it.
import { Combobox } from '@base-ui/react/combobox';
import { useRef, type ComponentProps, type ReactNode } from 'react';
import { text } from '../../text/common.ts';
import { ChoiceItem } from './choice-item.tsx';
import type { Choice, PickerState } from '../picker.tsx';
import styles from '../parts.module.css';

interface OpenPickerProps extends PickerState {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly isMultiple: boolean;
  readonly chosen: readonly Choice[];
  readonly onPick: (ids: readonly string[]) => void;
  readonly trigger: ComponentProps<'button'>;
  readonly onChange: (isOpen: boolean) => void;
}

export default function OpenPicker({
  choices,
  isMultiple,
  chosen,
  onPick,
  isOpen,
  onChange,
  ...parts
}: OpenPickerProps): ReactNode {
  const shared = {
    items: choices as Choice[],
    itemToStringLabel: ({ name }: Choice) => name,
    isItemEqualToValue: (a: Choice, b: Choice) => a.id === b.id,
    autoHighlight: true,
    open: isOpen,
    onOpenChange: onChange,
    children: <Parts {...parts} />,
  };
  if (isMultiple)
    return (
      <Combobox.Root
        {...shared}
        multiple
        value={chosen as Choice[]}
        onValueChange={(picked: Choice[]) => onPick(picked.map(({ id }) => id))}
      />
    );
  return (
    <Combobox.Root
      {...shared}
      value={chosen[0] ?? null}
      onValueChange={(picked: Choice | null) => picked && onPick([picked.id])}
    />
  );
}

function Parts({
  label,
  trigger,
  isTouched,
}: Pick<OpenPickerProps, 'label' | 'trigger' | 'isTouched'>): ReactNode {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <>
      <Combobox.Trigger
        {...trigger}
        onKeyDown={(event) => {
          // A letter is a shortcut of the screen, and must not change the value too.
          if (event.key.length === 1 && event.key !== ' ') event.preventBaseUIHandler();
        }}
      />
      <Combobox.Portal>
        <Combobox.Positioner className={styles.positioner} sideOffset={4} align="start">
          <Combobox.Popup
            ref={popup}
            className={styles.popup}
            aria-label={label}
            // The focus of the input would open the keyboard of a phone, which covers the list.
            initialFocus={(by) => (isTouched || by === 'touch' ? popup.current : true)}
            onFocus={(event) => isTouched && event.preventBaseUIHandler()}
          >
            <Combobox.Input aria-label={text.search} placeholder={text.search} />
            <Combobox.Empty className="soft">{text.noMatch}</Combobox.Empty>
            <Combobox.List>
              {(choice: Choice) => <ChoiceItem key={choice.id} choice={choice} />}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </>
  );
}
