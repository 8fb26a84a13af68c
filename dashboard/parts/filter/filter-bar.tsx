// Filters of a list as chips.
import { lazy, Suspense, useState, type MouseEvent, type ReactNode } from 'react';
import { Button } from '../button.tsx';
import { Menu, MenuItem } from '../overlay/menu.tsx';
import { Bar } from '../states.tsx';
import { text } from '../../text/issues.ts';
import {
  chipFields,
  conditionsOf,
  filterOf,
  newChip,
  type Chip,
  type ChipField,
  type Condition,
  type FilterTree,
} from './filter.ts';

const Chips = lazy(() => import('./chips.tsx'));
const ChipDialog = lazy(() => import('./chip-dialog.tsx'));

/** Moves the focus from a button that disappears to the menu that adds conditions. */
const focusMenu = ({ currentTarget }: MouseEvent<HTMLElement>): void =>
  currentTarget.closest('[role=group]')?.querySelector<HTMLElement>('[aria-haspopup]')?.focus();

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
        <Suspense>
          <Chips
            conditions={conditions}
            onEdit={(chip, at) => setEdited({ chip, at })}
            onRemove={(at, event) => {
              focusMenu(event);
              replace(at, null);
            }}
          />
        </Suspense>
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
