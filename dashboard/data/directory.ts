// Objects that all screens name. Teams, members, labels, workflow states, projects and cycles are loaded whole, once.
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { Client, Cycle, Field, Label, Member, Project, Team, WorkflowState } from '@tatami/sdk/client';
import { useClient } from './provider.tsx';

const pageSize = 100;

const all = <T>(namespace: string, read: () => AsyncIterable<T>) =>
  queryOptions({ queryKey: [namespace, 'all'], queryFn: () => Array.fromAsync(read()) });

const teamsQuery = (client: Client) => all<Team>('teams', () => client.teams.list({ limit: pageSize }));
export const membersQuery = (client: Client) =>
  all<Member>('members', () => client.members.list({ limit: pageSize }));
export const labelsQuery = (client: Client) =>
  all<Label>('labels', () => client.labels.list({ limit: pageSize }));
export const statesQuery = (client: Client) =>
  all<WorkflowState>('workflows', () => client.workflows.list({ limit: pageSize }));
export const projectsQuery = (client: Client) =>
  all<Project>('projects', () => client.projects.list({ limit: pageSize }));
export const cyclesQuery = (client: Client) =>
  all<Cycle>('cycles', () => client.cycles.list({ limit: pageSize }));
export const fieldsQuery = (client: Client) =>
  all<Field>('fields', () => client.fields.list({ limit: pageSize }));

const none: readonly never[] = [];

export const useTeams = (): readonly Team[] => useQuery(teamsQuery(useClient())).data ?? none;
export const useMembers = (): readonly Member[] => useQuery(membersQuery(useClient())).data ?? none;
export const useLabels = (): readonly Label[] => useQuery(labelsQuery(useClient())).data ?? none;
export const useStates = (): readonly WorkflowState[] => useQuery(statesQuery(useClient())).data ?? none;
export const useProjects = (): readonly Project[] => useQuery(projectsQuery(useClient())).data ?? none;
export const useCycles = (): readonly Cycle[] => useQuery(cyclesQuery(useClient())).data ?? none;

/** Issues whose identifier or title matches, for palettes and pickers. */
export const titlesQuery = (client: Client, input: string) =>
  queryOptions({
    queryKey: ['issues', 'titles', input],
    enabled: input !== '',
    staleTime: 10_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { data } = await client.issues.titles({ q: input.slice(0, 200) }, { signal });
      return data;
    },
  });
