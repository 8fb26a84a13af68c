// Chips for the filter of a subscription to events.
import type { EventFilters } from '@tatami/sdk/webhooks';
import { chipFields, type ChipField } from './filter.ts';

type EventType = keyof EventFilters;
type Namespace = EventType extends `${infer N}.${string}` ? N : never;
/** Fields of every event type of a namespace. */
type FieldsOf<N extends Namespace> = ChipField & keyof EventFilters[Extract<EventType, `${N}.${string}`>];

const ofTeam = ['team', 'createdAt', 'updatedAt'] as const;
const ofProject = ['project', 'createdAt', 'updatedAt'] as const;

/**
 * Fields of events that have the values of the same fields of issues. The events of other namespaces have no such
 * fields besides times, or others of the same name, such as the state of a plugin.
 */
const fieldsByNamespace: { readonly [N in Namespace]?: readonly FieldsOf<N>[] } = {
  issue: chipFields,
  comment: ofTeam,
  reaction: ofTeam,
  sla: ['assignee', ...ofTeam],
  template: ['assignee', 'priority', 'team', 'project', 'title', 'estimate', 'createdAt', 'updatedAt'],
  cycle: ofTeam,
  label: ofTeam,
  milestone: ofProject,
  pipeline: ofTeam,
  workflow: ofTeam,
  field: ofTeam,
};

/**
 * Returns the fields that chips can filter all of these events by.
 * @param patterns event types, and all of a namespace such as `issue.*`; chips cannot filter `*`
 */
export function fieldsOfEvents(patterns: readonly string[]): readonly ChipField[] {
  const namespaces = [...new Set(patterns.map((pattern) => pattern.split('.')[0]))];
  const sets = namespaces.map(
    (namespace): readonly ChipField[] => fieldsByNamespace[namespace as Namespace] ?? [],
  );
  return chipFields.filter((field) => sets.length > 0 && sets.every((fields) => fields.includes(field)));
}
