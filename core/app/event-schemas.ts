// Data schemas of all events, and the fields that subscriptions can filter by.
import { Type, type TObject, type TSchema } from 'typebox';
import { attachment } from '../features/attachments/contract.ts';
import { contracts, eventsOf, type Directory } from '../features/contracts.ts';
import type { Contract } from '../kernel/contract/contract.ts';
import { responseProperties, schemasOf } from '../kernel/contract/schemas.ts';
import type { EventType } from '../kernel/events/catalogue.ts';
import { envelope } from '../kernel/events/feed/schema.ts';
import { eventFilteringOf, fieldsOfShape } from '../kernel/resource/filter/event-filter.ts';
import {
  createEventFiltering,
  type CheckFilter,
  type EventFiltering,
  type FindMentioned,
} from '../kernel/resource/filter/filtering.ts';
import type { FilterFields } from '../platform/lib/filter/filter.ts';
import { Closed, described, namedSchema } from '../platform/lib/schema.ts';
import { capital } from '../platform/lib/text/words.ts';
import { features, resources } from './features.ts';

/** Data schemas of events without a stored object. */
const announced = features.flatMap(({ events = {} }) => Object.entries(events));

const filterings = new Map(resources.map(({ contract, filtering }) => [contract.name, filtering]));
const find: FindMentioned = async (ctx, mention) =>
  filterings.get(mention.field.to.name)?.find?.(ctx, mention);

const filteringByType: ReadonlyMap<string, EventFiltering> = new Map([
  ...contracts.flatMap((contract) => {
    const filtering = eventFilteringOf(contract, filterings.get(contract.name), find);
    return eventsOf(contract.events).map((type) => [type, filtering] as const);
  }),
  ...announced.map(
    ([type, shape]) => [type, createEventFiltering({ fields: fieldsOfShape(shape), find })] as const,
  ),
]);

/** Filtering of a name that is no event type, as in an unchecked manifest: without fields. */
const unknown = createEventFiltering({ fields: {} });
const filteringOf = (eventType: string): EventFiltering => filteringByType.get(eventType) ?? unknown;

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
export function sentEvents(): readonly SentEvent[] {
  return (sent ??= makeSentEvents());
}

interface SentEvent {
  readonly type: EventType;
  readonly envelope: TSchema;
}

/** Made once, because the API reference and the samples of webhooks use the same envelopes. */
let sent: readonly SentEvent[] | undefined;

function makeSentEvents(): SentEvent[] {
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
  return [...own, ...announced.map(([type, shape]) => sentEvent(type, shape))];
}

function sentEvent(type: string, data: TSchema): SentEvent {
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
