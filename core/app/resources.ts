// Registry of resources, from which routes, OpenAPI, filters and the directory derive. Resources with custom
// rules or operations are listed here; a contract in no list gets the default behavior.
import { Type, type TObject, type TSchema } from 'typebox';
import type { Contract } from '../kernel/contract/contract.ts';
import { responseProperties, schemasOf } from '../kernel/contract/schemas.ts';
import { contracts, eventsOf, type Directory } from '../features/contracts.ts';
import type { EventType } from '../kernel/events/catalogue.ts';
import { eventRoutes } from '../kernel/events/feed/routes.ts';
import { envelope } from '../kernel/events/feed/schema.ts';
import type { Route } from '../kernel/http/route.ts';
import { apiKeys } from '../features/api-keys/api-keys.ts';
import { auditRoutes } from '../features/people/audit/routes.ts';
import { grants } from '../features/oauth/grants/grants.ts';
import { members } from '../features/people/members/members.ts';
import { oauthApps } from '../features/oauth/apps/oauth-apps.ts';
import { workspaces } from '../features/people/workspace/workspace.ts';
import { snoozeTimer } from '../features/inbox/model.ts';
import { InboxPreferencesEvent } from '../features/inbox/preferences.ts';
import { SystemProblemResponse } from '../features/inbox/problem.ts';
import { inbox } from '../features/inbox/routes.ts';
import { usageRoutes } from '../kernel/ledger/routes.ts';
import type { FilterFields } from '../platform/lib/filter/filter.ts';
import { Closed, described, namedSchema } from '../platform/lib/schema.ts';
import { capital } from '../platform/lib/text/words.ts';
import { plugin } from '../features/plugins/installs/contract.ts';
import { AutomationRun } from '../features/plugins/runs/contract.ts';
import { AutomationUndone } from '../features/plugins/undo/contract.ts';
import { expiryTimer, proposalsOfEnded } from '../features/proposals/ends.ts';
import { proposal } from '../features/proposals/contract.ts';
import type { DueTimer } from '../kernel/reactions/due-timer.ts';
import type { Reaction } from '../kernel/reactions/reaction.ts';
import { defineResource, type Resource } from '../kernel/resource/define.ts';
import { eventFilteringOf, fieldsOfShape } from '../kernel/resource/filter/event-filter.ts';
import {
  createEventFiltering,
  type CheckFilter,
  type EventFiltering,
  type FindMentioned,
} from '../kernel/resource/filter/filtering.ts';
import { modelOf } from '../kernel/resource/model.ts';
import { attachment } from '../features/attachments/contract.ts';
import { attachments } from '../features/attachments/attachments.ts';
import { calendars } from '../features/calendars/calendars.ts';
import { boards } from '../features/boards/boards.ts';
import { CardMoved } from '../features/boards/bodies.ts';
import { comments } from '../features/comments/comments.ts';
import { fields } from '../features/fields/fields.ts';
import { cycleTimer } from '../features/cycles/timer.ts';
import { cycles } from '../features/cycles/cycles.ts';
import { issues } from '../features/issues/resource.ts';
import { labels } from '../features/labels/labels.ts';
import { milestoneCompletion } from '../features/milestones/completion.ts';
import { milestones } from '../features/milestones/milestones.ts';
import { pipelines } from '../features/pipelines/pipelines.ts';
import { projectUpdates } from '../features/project-updates/project-updates.ts';
import { projects } from '../features/projects/projects.ts';
import { releases } from '../features/releases/resource.ts';
import { relations } from '../features/relations/relations.ts';
import { slaPolicies } from '../features/sla-policies/policies.ts';
import { slaTimer } from '../features/sla/timer.ts';
import { slaClocks, slaReaction } from '../features/sla/sla.ts';
import { search } from '../features/search/contract.ts';
import { searchRoutes } from '../features/search/routes.ts';
import { notifying } from '../features/notifications/reaction.ts';
import { reactions as reactionResource } from '../features/reactions/reactions.ts';
import { subscribers } from '../features/subscribers/subscribers.ts';
import { teams } from '../features/teams/teams.ts';
import { templates } from '../features/templates/templates.ts';
import { triageRoutes } from '../features/triage/routes.ts';
import { snooze } from '../features/triage/snooze.ts';
import { views } from '../features/views/views.ts';
import { workflows } from '../features/workflows/workflows.ts';
import { webhook } from '../features/webhooks/endpoints/contract.ts';

const special: readonly Resource[] = [
  issues,
  comments,
  attachments,
  fields,
  reactionResource,
  subscribers,
  inbox,
  labels,
  projects,
  projectUpdates,
  milestones,
  pipelines,
  releases,
  relations,
  templates,
  cycles,
  boards,
  views,
  workflows,
  calendars,
  slaPolicies,
  slaClocks,
  teams,
  members,
  workspaces,
  apiKeys,
  oauthApps,
  grants,
];
/** Contracts whose operations need the running service, which provides their routes. */
const ofRunningService: readonly Contract[] = [webhook, plugin, proposal];

const withoutObjects: readonly Contract[] = [search];

const plain = contracts
  .filter(
    (contract) =>
      ![...ofRunningService, ...withoutObjects].includes(contract) &&
      !special.some((one) => one.contract === contract),
  )
  .map((contract) => defineResource(contract, modelOf(contract)));

const resources: readonly Resource[] = [...special, ...plain];

export const models: ReadonlyMap<string, Resource['model']> = new Map(
  resources.map(({ model }) => [model.name, model]),
);

export const reactions: readonly Reaction[] = [milestoneCompletion, slaReaction, notifying, proposalsOfEnded];
export const timers: readonly DueTimer[] = [snooze, cycleTimer, slaTimer, snoozeTimer, expiryTimer];

export const directoryLoaders = resources.flatMap(({ directory }) => directory ?? []);

export const resourceRoutes: readonly Route[] = [
  ...resources.flatMap(({ routes }) => routes),
  ...triageRoutes,
  ...searchRoutes,
  ...eventRoutes,
  ...auditRoutes,
  ...usageRoutes,
];

/** Data schemas of events without a stored object. */
const announced = {
  'board.card_moved': CardMoved,
  'inbox.preferences_updated': InboxPreferencesEvent,
  'system.problem_raised': SystemProblemResponse,
  'system.problem_cleared': SystemProblemResponse,
  'automation.undone': AutomationUndone,
  'automation.run': AutomationRun,
  'automation.failed': AutomationRun,
} satisfies Partial<Record<EventType, TObject>>;

const filterings = new Map(resources.map(({ contract, filtering }) => [contract.name, filtering]));
const find: FindMentioned = async (ctx, mention) =>
  filterings.get(mention.field.to.name)?.find?.(ctx, mention);

const filteringByType: ReadonlyMap<string, EventFiltering> = new Map([
  ...contracts.flatMap((contract) => {
    const filtering = eventFilteringOf(contract, filterings.get(contract.name), find);
    return eventsOf(contract.events).map((type) => [type, filtering] as const);
  }),
  ...Object.entries(announced).map(
    ([type, shape]) => [type, createEventFiltering({ fields: fieldsOfShape(shape), find })] as const,
  ),
]);

/** Filtering of event types that only earlier versions sent. */
const unsent = createEventFiltering({ fields: {} });
const filteringOf = (eventType: string): EventFiltering => filteringByType.get(eventType) ?? unsent;

/**
 * Returns the fields that subscriptions to an event type can filter by; the same object for types that share
 * them.
 * @param directory directory of the workspace, which may add custom fields; default: only the fields of every
 * workspace
 */
export function filterFieldsOf(eventType: string, directory?: Directory): FilterFields {
  const { fields, fieldsIn } = filteringOf(eventType);
  return directory ? fieldsIn(directory) : fields;
}

/**
 * Returns the field under which a workspace adds filterable parts to the objects of an event type; null if
 * there is none.
 */
export function addedFieldsOf(eventType: string): string | null {
  return filteringOf(eventType).under;
}

/** @throws ApiError validation_failed */
export const checkFilter: CheckFilter = (ctx, eventType, filter, at) =>
  filteringOf(eventType).check(ctx, filter, at, eventType);

/**
 * Returns the envelope of every event type: `data` is the object as in the API; for a change, with
 * `previous`.
 */
export function sentEvents(): { type: EventType; envelope: TSchema }[] {
  const own = contracts.flatMap((contract) => {
    const { created, updated, deleted, restored, announced: extra = [], other = [] } = contract.events;
    const changed = [updated, deleted, restored, ...other].filter((type) => type !== undefined);
    const createdTypes = created === undefined ? extra : [created, ...extra];
    return [
      ...createdTypes.map((type) =>
        sentEvent(type, besideOf(contract, type) ?? schemasOf(contract).response),
      ),
      ...changed.map((type) => sentEvent(type, changedShape(contract))),
    ];
  });
  return [...own, ...Object.entries(announced).map(([type, shape]) => sentEvent(type, shape))];
}

function sentEvent(type: string, data: TSchema): { type: EventType; envelope: TSchema } {
  return {
    type: type as EventType,
    envelope: Closed({
      ...envelope,
      type: Type.Enum([type], { description: 'Type of the event.' }),
      data: described(data, 'The object at the time of the event.'),
    }),
  };
}

/** Contracts of the additional object in the data of an event. */
const others: Readonly<Record<string, Contract>> = {
  'issue.attachment_added': attachment,
  'issue.attachment_removed': attachment,
};
const shapesBeside = new Map<string, TObject>();

/**
 * Returns the schema of the object plus the additional data of the event; undefined if there is no additional
 * data.
 */
function besideOf(contract: Contract, type: string): TObject | undefined {
  const other = others[type];
  const extra = other
    ? { [other.name]: described(schemasOf(other).response, other.doc) }
    : contract.events.beside?.[type];
  if (!extra) return undefined;
  const name = `${contract.title}With${Object.keys(extra).map(capital).join('')}`;
  const shape =
    shapesBeside.get(name) ?? namedSchema(name, Closed({ ...responseProperties(contract), ...extra }));
  shapesBeside.set(name, shape);
  return shape;
}

const previous = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Previous values of the changed fields.',
});
const changedShapes = new Map<Contract, TObject>();

function changedShape(contract: Contract): TObject {
  const known = changedShapes.get(contract);
  if (known) return known;
  const shape = namedSchema(
    `${contract.title}Changed`,
    Closed({ ...responseProperties(contract), previous }),
  );
  changedShapes.set(contract, shape);
  return shape;
}
