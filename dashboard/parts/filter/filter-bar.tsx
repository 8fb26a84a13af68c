// Filters of a list as chips.
import { lazy, Suspense, useState, type MouseEvent, type ReactNode } from 'react';
import { Button } from '../button.tsx';
import { Icon } from '../icon.tsx';
import { Menu, MenuItem } from '../overlay/menu.tsx';
import type { Choice } from '../picker.tsx';
import { Bar } from '../states.tsx';
import { text } from '../../text/issues.ts';
import { choiceOf, useFilterChoices } from './choices.tsx';
import {
  chipFields,
  conditionsOf,
  filterOf,
  isChip,
  newChip,
  type Chip,
  type ChipField,
  type Condition,
  type FilterTree,
} from './filter.ts';
import { testName } from './words.ts';

const ChipDialog = lazy(() => import('./chip-dialog.tsx'));

interface FilterBarProps {
  readonly filter: FilterTree | undefined;
  readonly onChange: (filter: FilterTree | undefined) => void;
  /** Fields that a person can add a filter for; by default all. */
  readonly fields?: readonly ChipField[];
  readonly children?: ReactNode;
}

export function FilterBar({ filter, onChange, fields = chipFields, children }: FilterBarProps): ReactNode {
  const [edited, setEdited] = useState<{ readonly chip: Chip; readonly at: number } | null>(null);
  const conditions = conditionsOf(filter);
  const replace = (at: number, condition: Condition | null): void =>
    onChange(filterOf(condition ? conditions.toSpliced(at, 1, condition) : conditions.toSpliced(at, 1)));
  return (
    <Bar label={text.filters}>
      {conditions.length > 0 && (
        <Chips
          conditions={conditions}
          onEdit={(chip, at) => setEdited({ chip, at })}
          onRemove={(at) => replace(at, null)}
        />
      )}
      <Menu button={`+ ${text.addFilter}`}>
        {fields.map((field) => (
          <MenuItem key={field} onSelect={() => setEdited({ chip: newChip(field), at: conditions.length })}>
            {text.fields[field]}
          </MenuItem>
        ))}
      </Menu>
      {conditions.length > 0 && (
        <Button
          look="plain"
          onClick={(event) => {
            focusMenu(event);
            onChange(undefined);
          }}
        >
          {text.clear}
        </Button>
      )}
      <span className="grow" />
      {children}
      {edited && (
        <Suspense>
          <ChipDialog
            chip={edited.chip}
            onClose={() => setEdited(null)}
            onApply={(chip) => replace(edited.at, chip)}
          />
        </Suspense>
      )}
    </Bar>
  );
}

/** Moves the focus from a button that disappears to the menu that adds conditions. */
const focusMenu = ({ currentTarget }: MouseEvent<HTMLElement>): void =>
  currentTarget.closest('[role=group]')?.querySelector<HTMLElement>('[aria-haspopup]')?.focus();

interface ChipsProps {
  readonly conditions: readonly Condition[];
  readonly onEdit: (chip: Chip, at: number) => void;
  readonly onRemove: (at: number) => void;
}

/** A component of its own, because only chips need the names of all members, labels and states. */
function Chips({ conditions, onEdit, onRemove }: ChipsProps): ReactNode {
  const choices = useFilterChoices();
  return conditions.map((condition, at) => (
    <ChipButton
      // A changed chip stays the same element, which the focus returns to.
      key={at}
      condition={condition}
      choices={isChip(condition) ? choices[condition.field] : undefined}
      onEdit={(chip) => onEdit(chip, at)}
      onRemove={() => onRemove(at)}
    />
  ));
}

interface ChipButtonProps {
  readonly condition: Condition;
  readonly choices: readonly Choice[] | undefined;
  readonly onEdit: (chip: Chip) => void;
  readonly onRemove: () => void;
}

function ChipButton({ condition, choices, onEdit, onRemove }: ChipButtonProps): ReactNode {
  const words = isChip(condition) ? wordsOf(condition, choices) : text.other;
  return (
    <span className="chip">
      {isChip(condition) ? (
        <Button look="plain" onClick={() => onEdit(condition)}>
          <span className="cut">{words}</span>
        </Button>
      ) : (
        <span title={JSON.stringify(condition.tree)}>{words}</span>
      )}
      <Button
        look="plain"
        isIcon
        aria-label={text.remove(words)}
        onClick={(event) => {
          focusMenu(event);
          onRemove();
        }}
      >
        <Icon name="close" />
      </Button>
    </span>
  );
}

function wordsOf({ field, test, values }: Chip, choices: readonly Choice[] | undefined): string {
  const names = values.map((value) => choiceOf(choices ?? [], value)?.name ?? value);
  return `${text.fields[field]} ${testName(field, test)} ${names.join(', ')}`.trim();
}
