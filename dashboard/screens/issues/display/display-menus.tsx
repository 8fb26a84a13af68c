// Grouping, sorting, fields and density of a list.
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { Button } from '../../../parts/button.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { text } from '../../../text/issues.ts';
import { groupings, sorts, type Grouping, type IssueSearch } from '../search.ts';
import { densities, type ListDisplay } from './display.ts';

const FieldsDialog = lazy(() => import('./fields-dialog.tsx'));

interface DisplayMenusProps {
  readonly search: IssueSearch;
  readonly display: ListDisplay;
  readonly onChange: (part: Partial<Record<'group' | 'sort', string | undefined>>) => void;
}

const mark = (isChosen: boolean): string => (isChosen ? ' ✓' : '');

export function DisplayMenus({ search, display, onChange }: DisplayMenusProps): ReactNode {
  const { group, sort = '-createdAt' } = search;
  return (
    <>
      <Menu button={group ? `${text.groupBy}: ${text.fields[group]}` : text.groupBy}>
        <MenuItem onSelect={() => onChange({ group: undefined })}>
          {text.noGroups}
          {mark(group === undefined)}
        </MenuItem>
        {groupings.map((one: Grouping) => (
          <MenuItem key={one} onSelect={() => onChange({ group: one })}>
            {text.fields[one]}
            {mark(one === group)}
          </MenuItem>
        ))}
      </Menu>
      <Menu button={text.sortBy}>
        {sorts.map((one) => (
          <MenuItem key={one} onSelect={() => onChange({ sort: one })}>
            {text.sorts[one]}
            {mark(one === sort)}
          </MenuItem>
        ))}
      </Menu>
      <FieldsButton display={display} />
      <Menu button={text.density}>
        {densities.map((one) => (
          <MenuItem key={one} onSelect={() => display.setDensity(one)}>
            {text.densities[one]}
            {mark(one === display.density)}
          </MenuItem>
        ))}
      </Menu>
    </>
  );
}

function FieldsButton({ display: { fields, setFields } }: Pick<DisplayMenusProps, 'display'>): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {text.showFields}
      </Button>
      <Suspense>
        {isOpen && <FieldsDialog fields={fields} onChange={setFields} onClose={() => setOpen(false)} />}
      </Suspense>
    </>
  );
}
