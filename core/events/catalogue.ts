// Every event type of the service, by namespace. A subscription names one of them, a namespace (`issue.*`) or all (`*`).
// docs/spec/events.md › Types.

const byNamespace = {
  issue: [
    'created',
    'updated',
    'state_changed',
    'assigned',
    'labeled',
    'moved',
    'deleted',
    'restored',
    'relation_added',
    'relation_removed',
    'attachment_added',
    'attachment_removed',
    'triage_accepted',
    'triage_declined',
  ],
  comment: ['added', 'updated', 'deleted', 'resolved', 'unresolved'],
  reaction: ['added', 'removed'],
  project: ['created', 'updated', 'update_posted', 'archived'],
  milestone: ['completed'],
  cycle: ['created', 'started', 'completed'],
  release: ['created', 'published', 'rolled_back'],
  sla: ['started', 'at_risk', 'breached', 'met'],
  inbox: ['item_created', 'item_read', 'item_archived'],
  automation: ['run', 'failed', 'proposed', 'approved', 'rejected'],
  plugin: ['installed', 'updated', 'disabled'],
  webhook: ['created', 'updated', 'deleted', 'disabled', 'secret_rotated', 'ping'],
  label: ['created', 'updated', 'deleted'],
  workflow: ['state_created', 'state_updated', 'state_deleted'],
  team: ['created', 'updated'],
  member: ['added', 'updated', 'removed'],
  api_key: ['created', 'revoked'],
  workspace: ['created', 'updated'],
} as const;

type Catalogue = typeof byNamespace;
export type EventNamespace = keyof Catalogue;
export type EventType = { [N in EventNamespace]: `${N}.${Catalogue[N][number]}` }[EventNamespace];

export const eventTypes: readonly EventType[] = Object.entries(byNamespace).flatMap(([namespace, names]) =>
  names.map((name) => `${namespace}.${name}` as EventType),
);

/** The read scope a subscriber needs for each namespace's events. */
export const namespaceScopes: Readonly<Record<EventNamespace, string>> = {
  issue: 'issues:read',
  comment: 'comments:read',
  reaction: 'comments:read',
  project: 'projects:read',
  milestone: 'projects:read',
  cycle: 'cycles:read',
  release: 'releases:read',
  sla: 'issues:read',
  inbox: 'inbox:read',
  automation: 'automations:read',
  plugin: 'plugins:read',
  webhook: 'webhooks:read',
  label: 'labels:read',
  workflow: 'workflows:read',
  team: 'teams:read',
  member: 'members:read',
  api_key: 'api-keys:read',
  workspace: 'workspace:read',
};

/** Those whose `data` tells the team it belongs to: by its `team`, or by the identifier of its `issue`. */
export const namespacesOfTeams: readonly EventNamespace[] = ['issue', 'comment', 'reaction', 'sla'];

export function namespaceOf(type: string): EventNamespace {
  return type.slice(0, type.indexOf('.')) as EventNamespace;
}

/** The event types a subscription pattern covers; empty for an unknown one. */
export function expandPattern(pattern: string): readonly EventType[] {
  if (pattern === '*') return eventTypes;
  if (pattern.endsWith('.*')) return eventTypes.filter((type) => type.startsWith(pattern.slice(0, -1)));
  return eventTypes.filter((type) => type === pattern);
}
