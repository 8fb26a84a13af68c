// The resources and what each does. Those with rules or operations of their own are listed here; a contract that is in no list
// is plain in all. Routes, OpenAPI, filters and the directory follow.
import { Type, type TObject, type TSchema } from 'typebox';
import type { Contract } from './contract/contract.ts';
import { shownProperties, schemasOf } from './contract/schemas.ts';
import { contracts, eventsOf } from './contracts.ts';
import type { EventType } from './events/catalogue.ts';
import { eventRoutes } from './events/routes.ts';
import { envelope } from './events/schema.ts';
import type { Route } from './http/route.ts';
import { apiKeys } from './identity/api-keys/api-keys.ts';
import { auditRoutes } from './identity/audit/routes.ts';
import { members } from './identity/members/members.ts';
import { workspaces } from './identity/workspace/workspace.ts';
import { inboxRoutes } from './inbox/routes.ts';
import { SystemProblemShown } from './inbox/problem.ts';
import { InboxItemShown } from './inbox/schema.ts';
import { usageRoutes } from './ledger/routes.ts';
import { parseFilter, type FilterFields } from './lib/filter.ts';
import { Closed, described, named } from './lib/schema.ts';
import { plugin } from './plugins/installs/contract.ts';
import { defineResource, type Resource } from './resource/define.ts';
import type { CheckFilter, Filtering } from './resource/filtering.ts';
import { kindOf } from './resource/kind.ts';
import { comments } from './tracker/comments/comments.ts';
import { issues } from './tracker/issues/resource.ts';
import { labels } from './tracker/labels/labels.ts';
import { projects } from './tracker/projects/projects.ts';
import { teams } from './tracker/teams/teams.ts';
import { workflows } from './tracker/workflows/workflows.ts';
import { webhook } from './webhooks/endpoints/contract.ts';

const special: readonly Resource[] = [
  issues,
  comments,
  labels,
  projects,
  workflows,
  teams,
  members,
  workspaces,
  apiKeys,
];
/** Their operations need the running service, which hands their routes over. */
const ofRunningService: readonly Contract[] = [webhook, plugin];

const plain = contracts
  .filter(
    (contract) => !ofRunningService.includes(contract) && !special.some((one) => one.contract === contract),
  )
  .map((contract) => defineResource(contract, kindOf(contract)));

export const resources: readonly Resource[] = [...special, ...plain];

export const directoryLoaders = resources.flatMap(({ directory }) => directory ?? []);

export const resourceRoutes: readonly Route[] = [
  ...resources.flatMap(({ routes }) => routes),
  ...eventRoutes,
  ...auditRoutes,
  ...inboxRoutes,
  ...usageRoutes,
];

const filteringByType: ReadonlyMap<string, Filtering> = new Map(
  resources.flatMap(({ contract, filtering }) =>
    eventsOf(contract.events).map((type) => [type, filtering] as const),
  ),
);
const unfiltered: FilterFields = {};

/** The fields that subscriptions to an event type can filter by; the same object for types that share them. */
export function filterFieldsOf(eventType: string): FilterFields {
  return filteringByType.get(eventType)?.fields ?? unfiltered;
}

/** Checks the filter of a subscription that is made. @throws ApiError validation_failed */
export const checkFilter: CheckFilter = async (ctx, eventType, filter, at) => {
  const filtering = filteringByType.get(eventType);
  if (filtering) await filtering.check(ctx, filter, at);
  else parseFilter(filter, unfiltered, at);
};

/** The envelope of every event type that is sent: `data` holds the object as it is shown; of a change, also `previous`. */
export function sentEvents(): { type: EventType; envelope: TSchema }[] {
  const own = contracts.flatMap((contract) => {
    const { created, updated, deleted, restored, told = [], other = [] } = contract.events;
    const changed = [updated, deleted, restored, ...other].filter((type) => type !== undefined);
    const made = created === undefined ? told : [created, ...told];
    return [
      ...made.map((type) => sentEvent(type, schemasOf(contract).shown)),
      ...changed.map((type) => sentEvent(type, changedShape(contract))),
    ];
  });
  return [
    ...own,
    sentEvent('inbox.item_created', InboxItemShown),
    sentEvent('system.problem_raised', SystemProblemShown),
    sentEvent('system.problem_cleared', SystemProblemShown),
  ];
}

function sentEvent(type: string, data: TSchema): { type: EventType; envelope: TSchema } {
  return {
    type: type as EventType,
    envelope: Closed({
      ...envelope,
      type: Type.Enum([type], { description: 'What happened.' }),
      data: described(data, 'The object as it was then.'),
    }),
  };
}

const previous = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Old values of the changed fields.',
});
const changedShapes = new Map<Contract, TObject>();

function changedShape(contract: Contract): TObject {
  const known = changedShapes.get(contract);
  if (known) return known;
  const shape = named(`${contract.title}Changed`, Closed({ ...shownProperties(contract), previous }));
  changedShapes.set(contract, shape);
  return shape;
}
