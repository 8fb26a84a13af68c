// THE registry of resources: one line each. Routes, OpenAPI, scopes, events and tests follow from it.
import { Type, type TObject, type TSchema } from 'typebox';
import type { EventType } from './events/catalogue.ts';
import { eventRoutes } from './events/routes.ts';
import { envelope } from './events/schema.ts';
import type { Route } from './http/route.ts';
import type { FilterFields } from './lib/filter.ts';
import { ApiKeyShown } from './identity/api-keys/schema.ts';
import { MemberShown } from './identity/members/schema.ts';
import { TeamShown } from './identity/teams/schema.ts';
import { WorkspaceShown } from './identity/workspace/schema.ts';
import { Closed } from './lib/schema.ts';
import { InstallShown } from './plugins/installs/schema.ts';
import { CommentShown } from './tracker/comments/schema.ts';
import { IssueShown } from './tracker/issues/schema.ts';
import { LabelShown } from './tracker/labels/schema.ts';
import { ProjectShown } from './tracker/projects/schema.ts';
import { StateShown } from './tracker/workflows/schema.ts';
import { EndpointShown } from './webhooks/endpoints/schema.ts';
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

/** What `data` holds by event namespace: the object as it is shown, with `previous` on changes. */
const eventData: readonly { readonly shown: TObject; readonly types: readonly EventType[] }[] = [
  {
    shown: IssueShown,
    types: [
      'issue.created',
      'issue.updated',
      'issue.state_changed',
      'issue.assigned',
      'issue.labeled',
      'issue.deleted',
      'issue.restored',
    ],
  },
  {
    shown: CommentShown,
    types: ['comment.added', 'comment.updated', 'comment.deleted', 'comment.resolved', 'comment.unresolved'],
  },
  { shown: ProjectShown, types: ['project.created', 'project.updated'] },
  { shown: LabelShown, types: ['label.created', 'label.updated', 'label.deleted'] },
  {
    shown: StateShown,
    types: ['workflow.state_created', 'workflow.state_updated', 'workflow.state_deleted'],
  },
  { shown: TeamShown, types: ['team.created', 'team.updated'] },
  { shown: MemberShown, types: ['member.added', 'member.updated', 'member.removed'] },
  { shown: WorkspaceShown, types: ['workspace.created', 'workspace.updated'] },
  { shown: ApiKeyShown, types: ['api_key.created', 'api_key.revoked'] },
  { shown: InstallShown, types: ['plugin.installed', 'plugin.updated', 'plugin.disabled'] },
  {
    shown: EndpointShown,
    types: ['webhook.created', 'webhook.updated', 'webhook.deleted', 'webhook.disabled'],
  },
];

/** The envelope of every event type that is sent today. */
export function sentEvents(): { type: EventType; envelope: TSchema }[] {
  const previous = Type.Record(Type.String(), Type.Unknown(), {
    description: 'Old values of the changed fields.',
  });
  return eventData.flatMap(({ shown, types }) =>
    types.map((type) => ({
      type,
      envelope: Closed({
        ...envelope,
        type: Type.Enum([type]),
        data: Closed({
          ...shown.properties,
          ...(/created|added|installed/.test(type) ? {} : { previous: Type.Optional(previous) }),
        }),
      }),
    })),
  );
}
