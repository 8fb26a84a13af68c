/**
 * Every event type this version of the client knows. A newer server may send others, so a receiver's `switch` needs a `default`
 * that accepts what it does not handle.
 */
export const EVENT_TYPES = [
  ...(['issue.created', 'issue.updated', 'issue.state_changed', 'issue.assigned', 'issue.labeled'] as const),
  ...([
    'issue.moved',
    'issue.deleted',
    'issue.restored',
    'issue.relation_added',
    'issue.relation_removed',
  ] as const),
  ...([
    'issue.attachment_added',
    'issue.attachment_removed',
    'issue.triage_accepted',
    'issue.triage_declined',
  ] as const),
  ...([
    'comment.added',
    'comment.updated',
    'comment.deleted',
    'comment.resolved',
    'comment.unresolved',
  ] as const),
  ...(['reaction.added', 'reaction.removed'] as const),
  ...(['project.created', 'project.updated', 'project.update_posted', 'project.archived'] as const),
  ...(['milestone.completed', 'cycle.created', 'cycle.started', 'cycle.completed'] as const),
  ...(['release.created', 'release.published', 'release.rolled_back'] as const),
  ...(['sla.started', 'sla.at_risk', 'sla.breached', 'sla.met'] as const),
  ...(['inbox.item_created', 'inbox.item_read', 'inbox.item_archived'] as const),
  ...([
    'automation.run',
    'automation.failed',
    'automation.proposed',
    'automation.approved',
    'automation.rejected',
  ] as const),
  ...(['plugin.installed', 'plugin.updated', 'plugin.disabled'] as const),
  ...(['webhook.created', 'webhook.updated', 'webhook.deleted', 'webhook.disabled'] as const),
  ...(['webhook.secret_rotated', 'webhook.ping'] as const),
  ...(['label.created', 'label.updated', 'label.deleted'] as const),
  ...(['workflow.state_created', 'workflow.state_updated', 'workflow.state_deleted'] as const),
  ...(['team.created', 'team.updated', 'member.added', 'member.updated', 'member.removed'] as const),
  ...(['api_key.created', 'api_key.revoked', 'workspace.created', 'workspace.updated'] as const),
] as const;

export type EventType = (typeof EVENT_TYPES)[number];
