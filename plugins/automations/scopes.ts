// Scopes that rules can need. The server narrows them for each rule to those of its trigger and actions.
import type { ScopeRequest } from '@tatami/sdk/plugin';

const trigger = 'start rules on these events, and use them in templates';

export const scopes = {
  'issues:write': { why: 'test the conditions of rules, and change and create issues' },
  'comments:write': { why: 'comment on issues, and start rules on comments' },
  'boards:write': { why: 'move cards on boards' },
  'releases:write': { why: 'add issues to releases' },
  'cycles:read': { why: 'find the current and the next cycle' },
  'members:read': { why: trigger },
  'workspace:read': { why: trigger },
  'api-keys:read': { why: trigger },
  'oauth-apps:read': { why: trigger },
  'audit:read': { why: trigger },
  'workflows:read': { why: trigger },
  'teams:read': { why: trigger },
  'projects:read': { why: trigger },
  'views:read': { why: trigger },
  'labels:read': { why: trigger },
  'inboxes:read': { why: trigger },
  'inbox:read': { why: trigger },
  'webhooks:read': { why: trigger },
  'automations:read': { why: trigger },
  'plugins:read': { why: trigger },
} as const satisfies Record<string, ScopeRequest>;

export type Scopes = keyof typeof scopes;
