// Layout, grouping, sorting, fields and density of a list.
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { Button } from '../../../parts/button.tsx';
import { Menu, MenuItem } from '../../../parts/overlay/menu.tsx';
import { text } from '../../../text/issues.ts';
import { densities, type ListDisplay } from './display.ts';
import {
  boardGroupings,
  columnsOf,
  groupings,
  laneGroupings,
  lanesOf,
  layouts,
  sorts,
  type IssueSearch,
} from '../search.ts';

const FieldsDialog = lazy(() => import('./fields-dialog.tsx'));

interface DisplayMenusProps {
  readonly search: IssueSearch;
  readonly display: ListDisplay;
  readonly onChange: (
    part: Partial<Record<'layout' | 'group' | 'lanes' | 'sort', string | undefined>>,
  ) => void;
}

const mark = (isChosen: boolean): string => (isChosen ? ' ✓' : '');

export function DisplayMenus({ search, display, onChange }: DisplayMenusProps): ReactNode {
  const { layout = 'list', sort = '-createdAt' } = search;
  return (
    <>
      <div role="group" aria-label={text.layout}>
        {layouts.map((one) => (
          <Button
            key={one}
            {...(one !== layout && { look: 'plain' })}
            aria-pressed={one === layout}
            onClick={() => onChange({ layout: one })}
          >
            {text.layouts[one]}
          </Button>
        ))}
      </div>
      <Groupings search={search} onChange={onChange} />
      {layout === 'board' && <Lanes search={search} onChange={onChange} />}
      <Menu button={text.sortBy}>
        {sorts.map((one) => (
          <MenuItem key={one} onSelect={() => onChange({ sort: one })}>
            {text.sorts[one]}
            {mark(one === sort)}
          </MenuItem>
        ))}
      </Menu>
      {layout === 'list' && (
        <>
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
      )}
    </>
  );
}

/** A board always has columns, so it has no choice without grouping. */
function Groupings({ search, onChange }: Pick<DisplayMenusProps, 'search' | 'onChange'>): ReactNode {
  const isBoard = search.layout === 'board';
  const group = isBoard ? columnsOf(search) : search.group;
  return (
    <Menu button={group ? `${text.groupBy}: ${text.fields[group]}` : text.groupBy}>
      {!isBoard && (
        <MenuItem onSelect={() => onChange({ group: undefined })}>
          {text.noGroups}
          {mark(group === undefined)}
        </MenuItem>
      )}
      {(isBoard ? boardGroupings : groupings).map((one) => (
        <MenuItem key={one} onSelect={() => onChange({ group: one })}>
          {text.fields[one]}
          {mark(one === group)}
        </MenuItem>
      ))}
    </Menu>
  );
}

function Lanes({ search, onChange }: Pick<DisplayMenusProps, 'search' | 'onChange'>): ReactNode {
  const lanes = lanesOf(search);
  return (
    <Menu button={lanes ? `${text.lanes}: ${text.fields[lanes]}` : text.lanes}>
      <MenuItem onSelect={() => onChange({ lanes: undefined })}>
        {text.noLanes}
        {mark(lanes === undefined)}
      </MenuItem>
      {laneGroupings
        .filter((one) => one !== columnsOf(search))
        .map((one) => (
          <MenuItem key={one} onSelect={() => onChange({ lanes: one })}>
            {text.fields[one]}
            {mark(one === lanes)}
          </MenuItem>
        ))}
    </Menu>
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
