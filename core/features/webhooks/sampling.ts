// Samples: made-up events of any type for testing a receiver. A sample has the schema and the signature of a
// real event, but is not in the log: its sequence is 0, plugins do not receive it, and histories do not
// contain it.
import { Type, type Static, type TSchema, type TObject } from 'typebox';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { getEntity } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/catalogue.ts';
import type { EventEnvelope } from '../../kernel/events/event.ts';
import type { Streams } from '../../kernel/events/stream/streams.ts';
import { compileCheck } from '../../kernel/http/request/validate.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import { scopeOfEvent } from '../../kernel/rights/rights.ts';
import { makeSampleDelivery, type DeliveryWork } from './deliveries/operations.ts';
import { endpointModel } from './endpoints/model.ts';
import { payloadBytesMax } from './payload.ts';
import { Check } from 'typebox/value';
import type { Contract } from '../../kernel/contract/contract.ts';
import { contracts, eventsOf } from '../contracts.ts';
import {
  sampleId,
  type SampleFields,
  type SampleMoment,
  type SampleSetting,
  type AllSamples,
} from '../../kernel/samples.ts';
import { defineRoute, type Route } from '../../kernel/http/route.ts';
import { DeliveryResponse } from './deliveries/schema.ts';
import { webhook } from './endpoints/contract.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import { EventResponse } from '../../kernel/events/feed/schema.ts';
import { Closed, described, idOf, namedSchema } from '../../platform/lib/schema.ts';

export interface SampleEvent {
  readonly type: EventType;
  readonly envelope: TSchema;
}

export interface SampleMaker {
  /** @throws ApiError insufficient_scope, validation_failed */
  make(ctx: Context, input: Static<typeof SampleCreate>): EventEnvelope;
}

/**
 * Builds the data of a sample: from the sample data of its feature, or from the examples of the contract for
 * a resource without sample data. The caller fills in the rest of the schema.
 */
export function sampleData(
  { type, envelope }: { readonly type: string; readonly envelope: TSchema },
  setting: SampleSetting,
  samples: AllSamples,
): SampleFields {
  const { properties } = (envelope as TObject).properties.data as TObject;
  const contract = contracts.find(({ events }) => eventsOf(events).includes(type));
  const { objects, moments } = samples(setting);
  const object = objects[type] ?? objects[contract?.name ?? ''] ?? contract?.examples?.create ?? {};
  const { now, previous } = moments[type] ?? plainMoment(contract, type, object as SampleFields);
  const isChange = 'previous' in properties;
  const changed = isChange ? { previous: fitting(previous ?? {}, properties), ...agesOf(setting) } : {};
  const page = contract ? pageOf(contract, object as SampleFields, setting) : {};
  return fitting({ ...object, ...page, ...now, ...changed }, properties);
}

/** Returns an update made from the contract's examples; empty for other event types. */
function plainMoment(contract: Contract | undefined, type: string, object: SampleFields): SampleMoment {
  if (!contract || type !== contract.events.updated) return {};
  const now: SampleFields = { ...contract.examples?.update };
  return { now, previous: Object.fromEntries(Object.keys(now).map((name) => [name, object[name]])) };
}

/** Returns the URL of the page of a sample object; empty for objects without a page. */
function pageOf(
  { fields, path, id: prefix }: Contract,
  { id = sampleId(prefix ?? '') }: SampleFields,
  { baseUrl }: SampleSetting,
): SampleFields {
  const name = Object.keys(fields).find((field) => fields[field]!.options.isPage);
  return name === undefined ? {} : { [name]: `${baseUrl}/${path}/${String(id)}` };
}

/** Returns the version and creation time of an object that was changed once, two days after its creation. */
function agesOf({ nowMs }: SampleSetting): SampleFields {
  return { version: 2, createdAt: new Date(nowMs - 2 * dayMs).toISOString() };
}

/** Omits values whose format differs between requests and responses, such as references in examples. */
function fitting(values: SampleFields, properties: TObject['properties']): SampleFields {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => {
      const schema = properties[name];
      return schema !== undefined && Check(schema, value);
    }),
  );
}

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
}

const texts: Readonly<Record<string, string>> = {
  identifier: 'ENG-42',
  key: 'ENG',
  team: 'ENG',
  title: 'The save dialog crashes when the disk is full',
  description: 'Steps: fill the disk, press **Save**.',
  body: 'Seen on 2.4 as well.',
  name: 'Editor',
  kind: 'issue',
};

/** Returns a deterministic value that satisfies a schema, for fields and resources without sample data. */
function valueOf(schema: JsonSchema, name: string, setting: SampleSetting): unknown {
  if (schema.const !== undefined) return schema.const;
  // Most events concern objects that are not deleted.
  if (name === 'deletedAt') return null;
  if (schema.enum) return schema.enum.find((value) => value !== null && value !== 'none');
  if (schema.anyOf) return valueOf(schema.anyOf[0]!, name, setting);
  const [type = 'string'] = [schema.type ?? []].flat();
  return (byType[type] ?? textOf)(schema, name, setting);
}

type ValueOf = (schema: JsonSchema, name: string, setting: SampleSetting) => unknown;

const numberOf: ValueOf = ({ minimum = 1 }, name) => (name === 'number' ? 42 : minimum);

/** Generators by JSON type. All other types are strings. */
const byType: Readonly<Record<string, ValueOf>> = {
  object: ({ properties = {}, required = [] }, _name, setting) =>
    Object.fromEntries(required.map((key) => [key, valueOf(properties[key]!, key, setting)])),
  array: ({ items }, name, setting) => (items ? [valueOf(items, name, setting)] : []),
  boolean: () => true,
  integer: numberOf,
  number: numberOf,
};

function textOf(
  { pattern = '', format }: JsonSchema,
  name: string,
  { nowMs, baseUrl }: SampleSetting,
): string {
  const now = new Date(nowMs).toISOString();
  if (format === 'date-time') return now;
  if (name === 'url' || format === 'uri') return `${baseUrl}/issues/${texts.identifier}`;
  const [, prefix] = /^\^([a-z]{3})_/.exec(pattern) ?? [];
  if (prefix) return sampleId(prefix);
  if (pattern.startsWith('^[0-9a-f]{8}-')) return '019b0000-0000-7000-8000-000000000001';
  if (pattern.startsWith('^\\d{4}-')) return now.slice(0, 10);
  if (pattern.startsWith('^#')) return '#5e6ad2';
  return texts[name] ?? name;
}

export function createSampleMaker(sent: readonly SampleEvent[], samples: AllSamples): SampleMaker {
  const byType = new Map(
    sent.map(({ type, envelope }) => [type as string, { type, envelope, check: compileCheck(envelope) }]),
  );
  return {
    make(ctx, { type, data }) {
      const known = byType.get(type);
      if (!known)
        throw invalidField('type', 'invalid_enum', {
          why: `There is no event type ${type}.`,
          fix: 'Use one such as issue.created.',
        });
      const scope = scopeOfEvent(known.type);
      if (!ctx.scopes.has(scope))
        throw new ApiError(
          'insufficient_scope',
          `A sample of ${type} needs the scope ${scope}, which the token does not have. Use a token with the scope.`,
        );
      const setting = { nowMs: ctx.nowMs(), baseUrl: ctx.baseUrl };
      const sample = valueOf(known.envelope, '', setting) as EventEnvelope;
      const id = ctx.ids.next(idPrefixes.event);
      const event: EventEnvelope = {
        ...sample,
        id,
        workspace_id: ctx.workspaceId,
        sequence: 0,
        actor: ctx.actor,
        cause: { rootEventId: id, parentRunId: null, depth: 0, path: [] },
        data: { ...sample.data, ...sampleData(known, setting, samples), ...data },
      };
      known.check(event);
      return event;
    },
  };
}

/** @throws ApiError not_found, conflict, insufficient_scope, validation_failed */
async function deliverSample(
  ctx: Context,
  endpointId: string,
  input: Static<typeof SampleCreate>,
  samples: SampleMaker,
  work: DeliveryWork,
): Promise<ChangeSet> {
  const endpoint = await getEntity(ctx, endpointModel, endpointId);
  const event = samples.make(ctx, input);
  const payload = JSON.stringify(event);
  if (Buffer.byteLength(payload) > payloadBytesMax)
    throw invalidField(
      'data',
      'too_long',
      `Send less data: a sample may have at most ${payloadBytesMax} bytes.`,
    );
  const message = { eventId: event.id, type: event.type, payload };
  return makeSampleDelivery(ctx, endpoint, message, work);
}

/**
 * Sends a sample to the open streams of the workspace that subscribe to its type.
 * @throws ApiError insufficient_scope, validation_failed
 */
async function sendSample(
  ctx: Context,
  input: Static<typeof SampleCreate>,
  samples: SampleMaker,
  streams: Streams,
): Promise<ChangeSet> {
  const event = samples.make(ctx, input);
  return {
    changes: [],
    afterCommit: () => streams.broadcast(ctx.workspaceId, event),
    body: { listeners: streams.listeners(ctx.workspaceId, event.type), event },
  };
}

const SampleCreate = namedSchema(
  'SampleCreate',
  Closed({
    type: Type.String({ maxLength: 60, description: 'Event type, such as `issue.created`.' }),
    data: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "Fields that override those of the sample's `data`; the result must match the schema of the type.",
      }),
    ),
  }),
);

const SampleSent = namedSchema(
  'SampleSent',
  Closed({
    listeners: Type.Integer({ minimum: 0, description: 'Number of open streams that received the sample.' }),
    event: described(EventResponse, 'Sample event.'),
  }),
);

export function sampleRoutes(samples: SampleMaker, work: DeliveryWork, streams: Streams): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/events/samples',
      name: 'events.sample',
      summary: 'Send a sample of any event type to open event streams',
      description:
        "Sends a made-up event to the streams of this workspace that request samples. It is not stored in the log and changes nothing. Also needs the read scope of the type's namespace.",
      scope: 'webhooks:write',
      limit: 'write',
      body: SampleCreate,
      example: { type: 'issue.created', data: { priority: 'urgent' } },
      responses: { 200: SampleSent },
      write: (ctx, { body }) => sendSample(ctx, body, samples, streams),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/webhooks/{id}/samples',
      name: 'webhooks.sample',
      summary: 'Deliver a sample of any event type to an endpoint',
      description:
        "Delivers a made-up event with sequence 0. It is not stored in the log and changes nothing. Also needs the read scope of the type's namespace.",
      scope: 'webhooks:write',
      limit: 'write',
      params: Closed({ id: idOf(webhook.id) }),
      body: SampleCreate,
      example: { type: 'issue.created', data: { priority: 'urgent' } },
      responses: { 201: DeliveryResponse },
      errors: ['conflict'],
      write: (ctx, { params, body }) => deliverSample(ctx, params.id, body, samples, work),
    }),
  ];
}
