// THE registry of resources: one line each. Routes, OpenAPI, scopes, events and tests follow from it.
import { eventRoutes } from './events/routes.ts';
import type { Route } from './http/route.ts';
import type { FilterFields } from './lib/filter.ts';
import { apiKeyRoutes } from './identity/api-keys/routes.ts';
import { auditRoutes } from './identity/audit/routes.ts';
import { memberRoutes } from './identity/members/routes.ts';
import { teamRoutes } from './identity/teams/routes.ts';
import { workspaceRoutes } from './identity/workspace/routes.ts';
import { commentRoutes } from './tracker/comments/routes.ts';
import { issueFilterFields } from './tracker/issues/filter.ts';
import { issueRoutes } from './tracker/issues/routes.ts';
import { labelRoutes } from './tracker/labels/routes.ts';
import { projectRoutes } from './tracker/projects/routes.ts';
import { workflowRoutes } from './tracker/workflows/routes.ts';

export const resourceRoutes: readonly Route[] = [
  ...issueRoutes,
  ...commentRoutes,
  ...labelRoutes,
  ...projectRoutes,
  ...workflowRoutes,
  ...teamRoutes,
  ...memberRoutes,
  ...workspaceRoutes,
  ...apiKeyRoutes,
  ...eventRoutes,
  ...auditRoutes,
];

/** The fields that subscriptions to an event type can filter by. */
export function filterFieldsOf(eventType: string): FilterFields {
  return eventType.startsWith('issue.') ? issueFilterFields : {};
}
