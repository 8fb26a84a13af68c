// Button that opens a searchable list, for one value (a state, a member) or for several (labels).
import { useState, useTransition, type ReactNode } from 'react';
import { buttonClass } from './button.tsx';
import { ClosedButton } from './overlay/closed-button.tsx';
import { isLoaded, OpenPicker } from './overlay/loaded.ts';
import { useShortcuts } from './shortcuts.ts';

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

export function Picker({ value, onPick, ...props }: OneProps): ReactNode {
  const chosen = props.choices.filter(({ id }) => id === value);
  return <AnyPicker {...props} isMultiple={false} chosen={chosen} onPick={([id]) => onPick(id!)} />;
}

export function MultiPicker({ values, ...props }: ManyProps): ReactNode {
  const chosen = props.choices.filter(({ id }) => values.includes(id));
  return <AnyPicker {...props} isMultiple chosen={chosen} />;
}

export interface PickerState {
  readonly isOpen: boolean;
  /** True if a touch opened the list for the first time. */
  readonly isTouched: boolean;
}

interface AnyPickerProps extends Omit<ManyProps, 'values'> {
  readonly isMultiple: boolean;
  readonly chosen: readonly Choice[];
}

function AnyPicker({
  label,
  button,
  empty = label,
  look,
  onOpen,
  shortcut,
  ...list
}: AnyPickerProps): ReactNode {
  const [state, setState] = useState<PickerState | null>(null);
  const [isOpening, startOpening] = useTransition();
  const change = (isOpen: boolean, isTouched = false): void => {
    const next = { isOpen, isTouched };
    if (state || isLoaded(OpenPicker)) setState(next);
    // The button stays, with the focus, until the code has loaded.
    else startOpening(() => setState(next));
    if (isOpen) onOpen?.();
  };
  useShortcuts(shortcut === undefined ? [] : [{ keys: shortcut, label, run: () => change(true) }]);
  const { chosen } = list;
  const names = chosen.map(({ name }) => name).join(', ');
  const trigger = {
    className: buttonClass(look && { look }),
    'aria-label': names === '' && empty === label ? label : `${label}: ${names || empty}`,
    children: button ?? (
      <>
        {chosen.length === 1 && chosen[0]!.icon}
        <span className="cut">{names || empty}</span>
      </>
    ),
  };
  if (state)
    return (
      <OpenPicker {...list} {...state} label={label} trigger={trigger} onChange={(open) => change(open)} />
    );
  return (
    <ClosedButton
      {...trigger}
      role="combobox"
      aria-haspopup="dialog"
      isOpening={isOpening}
      onOpen={(isTouched) => change(true, isTouched)}
    />
  );
}
