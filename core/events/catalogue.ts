// Every event type that is sent, by namespace, as the contracts name them. A subscription names one of them, a namespace
// (`issue.*`) or all (`*`). docs/spec/events.md › Types.
import { scopeOfContract, type Contract } from '../contract/contract.ts';
import { contracts, eventsOf, type ContractEvent } from '../contracts.ts';
import { didYouMean } from '../lib/nearest.ts';

/** Told of without an object of its own that is stored. */
const announced = [
  'board.card_moved',
  'inbox.preferences_updated',
  'system.problem_raised',
  'system.problem_cleared',
  'automation.undone',
  'automation.run',
  'automation.failed',
] as const;
/** Whoever reads the inbox is told of problems there as well; what automations do is told under a scope of its own. */
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
      (type) => [namespaceOf(type), heardByOf(contract) ?? scopeOfContract(contract, 'read')] as const,
    ),
  ),
);

function heardByOf({ heardBy }: Contract): string | undefined {
  return heardBy;
}

/** Of namespaces whose events are each one member's: the read scope with which members hear of their own. */
export const ownScopes: Readonly<Record<string, string>> = Object.fromEntries(
  contracts
    .filter(heardByOf)
    .flatMap((contract) =>
      eventsOf(contract.events).map(
        (type) => [namespaceOf(type), scopeOfContract(contract, 'read')] as const,
      ),
    ),
);

/** The read scope a subscriber needs for each namespace's events. */
export const namespaceScopes: Readonly<Record<string, string>> = {
  ...definedScopes,
  ...scopesOfNamespaces,
};

/** The member whose event it is; null for one that is nobody's own. */
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

/** Those whose `data` tells the team it belongs to: by its `team`, or by the identifier of its `issue`. */
export const namespacesOfTeams: readonly string[] = [
  ...contracts.flatMap(({ ofTeam, events }) => (ofTeam ? eventsOf(events).map(namespaceOf) : [])),
];

/** The event types a subscription pattern covers; empty for an unknown one. */
export function expandPattern(pattern: string): readonly EventType[] {
  if (pattern === '*') return eventTypes;
  if (pattern.endsWith('.*')) return eventTypes.filter((type) => type.startsWith(pattern.slice(0, -1)));
  return eventTypes.filter((type) => type === pattern);
}

/** What to do about a pattern that covers nothing. */
export function unsentType(pattern: string): string {
  const namespaces = [...new Set(eventTypes.map(namespaceOf))].map((namespace) => `${namespace}.*`);
  const meant = didYouMean(pattern, pattern.endsWith('.*') ? namespaces : eventTypes);
  return `Nothing sends ${pattern}.${meant || ' Use a type such as issue.created, or issue.*.'}`;
}

/** The namespaces a subscription pattern covers. */
export function namespacesIn(pattern: string): readonly string[] {
  return pattern === '*'
    ? Object.keys(namespaceScopes)
    : [...new Set(expandPattern(pattern).map(namespaceOf))];
}
