// Catalog of event types by namespace, derived from the contracts. A subscription pattern names one type, a namespace
// (`issue.*`) or all (`*`). Spec: docs/spec/events.md › Types.
import { scopeOfContract, type Contract } from '../contract/contract.ts';
import { contracts, eventsOf, type ContractEvent } from '../../features/contracts.ts';
import { didYouMean } from '../../platform/lib/text/words.ts';

/** Event types that no contract declares. */
const announced = [
  'board.card_moved',
  'inbox.preferences_updated',
  'preferences.updated',
  'system.problem_raised',
  'system.problem_cleared',
  'automation.undone',
  'automation.run',
  'automation.failed',
] as const;
/** Read scopes that take precedence over those of the contracts. */
const scopesOfNamespaces = { system: 'inbox:read', automation: 'automations:read' } as const;

export type EventType = ContractEvent | (typeof announced)[number];
export type EventNamespace = EventType extends `${infer N}.${string}` ? N : never;

const sent: readonly string[] = [...contracts.flatMap(({ events }) => eventsOf(events)), ...announced];
export const eventTypes = sent as readonly EventType[];

export function namespaceOf(type: string): EventNamespace {
  return type.slice(0, type.indexOf('.')) as EventNamespace;
}

const definedScopes: Readonly<Record<string, string>> = Object.fromEntries(
  contracts.flatMap((contract) =>
    eventsOf(contract.events).map(
      (type) =>
        [namespaceOf(type), subscriptionScopeOf(contract) ?? scopeOfContract(contract, 'read')] as const,
    ),
  ),
);

function subscriptionScopeOf({ subscriptionScope }: Contract): string | undefined {
  return subscriptionScope;
}

/**
 * Read scope by namespace, for namespaces in which each event belongs to one member. With it, members read their own
 * events.
 */
export const ownScopes: Readonly<Record<string, string>> = Object.fromEntries(
  contracts
    .filter(subscriptionScopeOf)
    .flatMap((contract) =>
      eventsOf(contract.events).map(
        (type) => [namespaceOf(type), scopeOfContract(contract, 'read')] as const,
      ),
    ),
);

/** Read scope required to subscribe to each namespace. */
export const namespaceScopes: Readonly<Record<string, string>> = {
  ...definedScopes,
  ...scopesOfNamespaces,
};

/** Returns the id of the member that the event belongs to; null if it belongs to no single member. */
export function memberOfEvent({
  type,
  data,
}: {
  readonly type: EventType;
  readonly data: Readonly<Record<string, unknown>>;
}): string | null {
  if (!(namespaceOf(type) in ownScopes)) return null;
  return (data as { member?: { id?: string } }).member?.id ?? null;
}

/** Namespaces whose `data` names the team, through `team` or the identifier of `issue`. */
export const namespacesOfTeams: readonly string[] = [
  ...contracts.flatMap(({ ofTeam, events }) => (ofTeam ? eventsOf(events).map(namespaceOf) : [])),
];

/** Returns the event types that a subscription pattern covers; empty for an unknown pattern. */
export function expandPattern(pattern: string): readonly EventType[] {
  if (pattern === '*') return eventTypes;
  if (pattern.endsWith('.*')) return eventTypes.filter((type) => type.startsWith(pattern.slice(0, -1)));
  return eventTypes.filter((type) => type === pattern);
}

/** Returns the error text for a pattern that covers no event type. */
export function unsentType(pattern: string): string {
  const namespaces = [...new Set(eventTypes.map(namespaceOf))].map((namespace) => `${namespace}.*`);
  const meant = didYouMean(pattern, pattern.endsWith('.*') ? namespaces : eventTypes);
  return `There is no event type ${pattern}.${meant || ' Use a type such as issue.created, or issue.*.'}`;
}

export function namespacesIn(pattern: string): readonly string[] {
  return pattern === '*'
    ? Object.keys(namespaceScopes)
    : [...new Set(expandPattern(pattern).map(namespaceOf))];
}
