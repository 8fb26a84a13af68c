// THE registry of resources: one line each. Routes, OpenAPI, scopes, events and tests follow from it.
import { Type, type TObject, type TSchema } from 'typebox';
import type { EventType } from './events/catalogue.ts';
import { usageRoutes } from './ledger/routes.ts';
import { inboxRoutes } from './inbox/routes.ts';
import { InboxItemShown } from './inbox/schema.ts';
import { eventRoutes } from './events/routes.ts';
import { envelope } from './events/schema.ts';
import type { Route } from './http/route.ts';
import type { FilterFields } from './lib/filter.ts';
import { ApiKeyShown } from './identity/api-keys/schema.ts';
import { MemberShown } from './identity/members/schema.ts';
import { TeamShown } from './identity/teams/schema.ts';
import { WorkspaceShown } from './identity/workspace/schema.ts';
import { Closed, named } from './lib/schema.ts';
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
  ...inboxRoutes,
  ...usageRoutes,
];

/** The fields that subscriptions to an event type can filter by. */
export function filterFieldsOf(eventType: string): FilterFields {
  return eventType.startsWith('issue.') ? issueFilterFields : {};
}

/** What `data` of each event type holds: the object as it is shown; where it was there before, also `previous`. */
const eventData: readonly {
  readonly shown: TObject;
  /** Whole objects: they came to be, or are only told of. */
  readonly made: readonly EventType[];
  readonly changed: readonly EventType[];
}[] = [
  {
    shown: IssueShown,
    made: ['issue.created'],
    changed: [
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
    made: ['comment.added'],
    changed: ['comment.updated', 'comment.deleted', 'comment.resolved', 'comment.unresolved'],
  },
  { shown: ProjectShown, made: ['project.created'], changed: ['project.updated'] },
  { shown: LabelShown, made: ['label.created'], changed: ['label.updated', 'label.deleted'] },
  {
    shown: StateShown,
    made: ['workflow.state_created'],
    changed: ['workflow.state_updated', 'workflow.state_deleted'],
  },
  { shown: TeamShown, made: ['team.created'], changed: ['team.updated'] },
  { shown: MemberShown, made: ['member.added'], changed: ['member.updated', 'member.removed'] },
  { shown: WorkspaceShown, made: ['workspace.created'], changed: ['workspace.updated'] },
  { shown: ApiKeyShown, made: ['api_key.created'], changed: ['api_key.revoked'] },
  { shown: InstallShown, made: ['plugin.installed'], changed: ['plugin.updated', 'plugin.disabled'] },
  {
    shown: EndpointShown,
    made: ['webhook.created', 'webhook.ping'],
    changed: ['webhook.updated', 'webhook.deleted', 'webhook.disabled', 'webhook.secret_rotated'],
  },
  { shown: InboxItemShown, made: ['inbox.item_created'], changed: [] },
];

/** The envelope of every event type that is sent today. */
export function sentEvents(): { type: EventType; envelope: TSchema }[] {
  const previous = Type.Record(Type.String(), Type.Unknown(), {
    description: 'Old values of the changed fields.',
  });
  return eventData.flatMap(({ shown, made, changed }) => {
    const { 'x-name': name } = shown as TObject & { 'x-name': string };
    const moved = named(`${name}Changed`, Closed({ ...shown.properties, previous }));
    return [
      ...made.map((type) => ({
        type,
        envelope: Closed({ ...envelope, type: Type.Enum([type]), data: shown }),
      })),
      ...changed.map((type) => ({
        type,
        envelope: Closed({ ...envelope, type: Type.Enum([type]), data: moved }),
      })),
    ];
  });
}
