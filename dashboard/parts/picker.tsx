// Button that opens a searchable list, for one value (a state, a member) or for several (labels).
import { Combobox } from '@base-ui/react/combobox';
import { useState, type ReactNode } from 'react';
import { text } from '../text/common.ts';
import { buttonClass } from './button.tsx';
import { useShortcuts } from './shortcuts.ts';
import styles from './parts.module.css';

export interface Choice {
  /** Empty for "none". */
  readonly id: string;
  readonly name: string;
  readonly icon?: ReactNode;
}

interface PickerProps {
  readonly label: string;
  /** Content of the button; the names of the chosen values by default. */
  readonly button?: ReactNode;
  /** Shown while no value is chosen; the label by default. */
  readonly empty?: string;
  readonly look?: 'plain';
  readonly choices: readonly Choice[];
  /** Called when the list opens, for choices that are loaded then. */
  readonly onOpen?: () => void;
  /** Key that opens the list. */
  readonly shortcut?: string | undefined;
}

interface OneProps extends PickerProps {
  readonly value: string | null;
  readonly onPick: (id: string) => void;
}

interface ManyProps extends PickerProps {
  readonly values: readonly string[];
  readonly onPick: (ids: readonly string[]) => void;
}

const nameOf = ({ name }: Choice): string => name;

interface OpenState {
  readonly open: boolean;
  onOpenChange(open: boolean): void;
}

function useOpen({ label, shortcut, onOpen }: PickerProps): OpenState {
  const [open, setOpen] = useState(false);
  const onOpenChange = (isOpen: boolean): void => {
    setOpen(isOpen);
    if (isOpen) onOpen?.();
  };
  useShortcuts(shortcut === undefined ? [] : [{ keys: shortcut, label, run: () => onOpenChange(true) }]);
  return { open, onOpenChange };
}

export function Picker({ value, onPick, ...props }: OneProps): ReactNode {
  const open = useOpen(props);
  const chosen = props.choices.find(({ id }) => id === value) ?? null;
  return (
    <Combobox.Root
      items={props.choices as Choice[]}
      value={chosen}
      onValueChange={(choice: Choice | null) => choice && onPick(choice.id)}
      itemToStringLabel={nameOf}
      isItemEqualToValue={(a: Choice, b: Choice) => a.id === b.id}
      autoHighlight
      {...open}
    >
      <Parts {...props} shown={chosen ? [chosen] : []} />
    </Combobox.Root>
  );
}

export function MultiPicker({ values, onPick, ...props }: ManyProps): ReactNode {
  const open = useOpen(props);
  const chosen = props.choices.filter(({ id }) => values.includes(id));
  return (
    <Combobox.Root
      multiple
      items={props.choices as Choice[]}
      value={chosen}
      onValueChange={(choices: Choice[]) => onPick(choices.map(({ id }) => id))}
      itemToStringLabel={nameOf}
      isItemEqualToValue={(a: Choice, b: Choice) => a.id === b.id}
      autoHighlight
      {...open}
    >
      <Parts {...props} shown={chosen} />
    </Combobox.Root>
  );
}

function Parts({
  label,
  button,
  empty = label,
  look,
  shown,
}: PickerProps & { readonly shown: readonly Choice[] }): ReactNode {
  const names = shown.map(nameOf).join(', ');
  return (
    <>
      <Combobox.Trigger
        className={buttonClass(look && { look })}
        aria-label={names === '' && empty === label ? label : `${label}: ${names || empty}`}
      >
        {button ?? (
          <>
            {shown.length === 1 && shown[0]!.icon}
            <span className="cut">{names || empty}</span>
          </>
        )}
      </Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner className={styles.positioner} sideOffset={4} align="start">
          <Combobox.Popup className={styles.popup} aria-label={label}>
            <Combobox.Input aria-label={text.search} placeholder={text.search} />
            <Combobox.Empty className="soft">{text.noMatch}</Combobox.Empty>
            <Combobox.List>
              {(choice: Choice) => (
                <Combobox.Item key={choice.id} value={choice} className={styles.item}>
                  {choice.icon}
                  <span className="grow cut">{choice.name}</span>
                  <Combobox.ItemIndicator>✓</Combobox.ItemIndicator>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </>
  );
}
