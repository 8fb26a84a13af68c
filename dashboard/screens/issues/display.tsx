// Grouping, sorting and density of a list.
import type { ReactNode } from 'react';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { text } from '../../text/issues.ts';
import { groupings, sorts, type Grouping, type IssueSearch } from './search.ts';
import { densities, type Density } from './density.ts';

interface DisplayProps {
  readonly search: IssueSearch;
  readonly density: Density;
  readonly onChange: (part: Partial<Record<'group' | 'sort', string | undefined>>) => void;
  readonly onDensity: (density: Density) => void;
}

const mark = (isChosen: boolean): string => (isChosen ? ' ✓' : '');

export function Display({ search, density, onChange, onDensity }: DisplayProps): ReactNode {
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
      <Menu button={text.density}>
        {densities.map((one) => (
          <MenuItem key={one} onSelect={() => onDensity(one)}>
            {text.densities[one]}
            {mark(one === density)}
          </MenuItem>
        ))}
      </Menu>
    </>
  );
}
