// Layout, grouping, sorting and density of a list.
import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { text } from '../../text/issues.ts';
import { boardGroupings, columnsOf, groupings, layouts, sorts, type IssueSearch } from './search.ts';
import { densities, type Density } from './density.ts';

type Change = (part: Partial<Record<'layout' | 'group' | 'sort', string | undefined>>) => void;

interface DisplayProps {
  readonly search: IssueSearch;
  readonly density: Density;
  readonly onChange: Change;
  readonly onDensity: (density: Density) => void;
}

const mark = (isChosen: boolean): string => (isChosen ? ' ✓' : '');

export function Display({ search, density, onChange, onDensity }: DisplayProps): ReactNode {
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
      <Menu button={text.sortBy}>
        {sorts.map((one) => (
          <MenuItem key={one} onSelect={() => onChange({ sort: one })}>
            {text.sorts[one]}
            {mark(one === sort)}
          </MenuItem>
        ))}
      </Menu>
      {layout === 'list' && (
        <Menu button={text.density}>
          {densities.map((one) => (
            <MenuItem key={one} onSelect={() => onDensity(one)}>
              {text.densities[one]}
              {mark(one === density)}
            </MenuItem>
          ))}
        </Menu>
      )}
    </>
  );
}

/** A board always has columns, so it has no choice without grouping. */
function Groupings({ search, onChange }: Pick<DisplayProps, 'search' | 'onChange'>): ReactNode {
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
