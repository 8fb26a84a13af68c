// Choices for the fields of issues, for filters, bulk changes and forms.
import type { Team } from '@tatami/sdk/client';
import { useMembers, useCycles, useLabels, useProjects, useStates, useTeams } from '../../data/directory.ts';
import type { Choice } from '../picker.tsx';
import { PriorityIcon, StateIcon } from '../issue/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issues.ts';
import type { ChipField } from './filter.ts';

export const priorityChoices: readonly Choice[] = (['urgent', 'high', 'medium', 'low', 'none'] as const).map(
  (id) => ({ id, name: common.priorities[id], icon: <PriorityIcon priority={id} /> }),
);

/** @param team key of the team whose states are offered; by default those of all teams, with the key in their names */
export function useStateChoices(team?: string): readonly Choice[] {
  const states = useStates();
  return states
    .filter((state) => team === undefined || state.team === team)
    .map(({ id, name, type, team: key }) => ({
      id,
      name: team === undefined ? `${key}: ${name}` : name,
      icon: <StateIcon type={type} name={name} />,
    }));
}

export const stateTypeChoices: readonly Choice[] = Object.entries(common.stateTypes).map(([id, name]) => ({
  id,
  name,
}));

const named = ({ id, name }: { readonly id: string; readonly name: string }): Choice => ({ id, name });

/** The filter language has `none` for a missing value. */
const none = (field: keyof typeof text.noValue): Choice => ({ id: 'none', name: text.noValue[field] });

interface FilterChoice extends Choice {
  /** Another spelling of the value. */
  readonly alias?: string;
}

/** Events of comments and other parts of an issue contain only the key of a team, which never changes. */
const teamChoice = ({ id, key, name }: Team): FilterChoice => ({ id: key, name, alias: id });

/** Choices by the field of a filter; fields without a list are absent. */
export function useFilterChoices(): Readonly<Partial<Record<ChipField, readonly FilterChoice[]>>> {
  const members = useMembers().map(named);
  return {
    state: [...stateTypeChoices, ...useStateChoices()],
    assignee: [none('assignee'), ...members],
    creator: members,
    priority: priorityChoices,
    label: [none('label'), ...useLabels().map(named)],
    team: useTeams().map(teamChoice),
    project: [none('project'), ...useProjects().map(named)],
    cycle: [none('cycle'), ...useCycles().map(({ id, name, team }) => ({ id, name: `${team}: ${name}` }))],
  };
}

/** States by name, because selected issues may belong to several teams, each with its own states. */
export function useStateNames(teams: ReadonlySet<string>): readonly Choice[] {
  const states = useStates().filter(({ team }) => teams.has(team));
  const byName = new Map(states.map((state) => [state.name, state]));
  return [...byName.values()].map(({ name, type }) => ({
    id: name,
    name,
    icon: <StateIcon type={type} name={name} />,
  }));
}
