// Samples: made-up events of any type for testing a receiver. A sample has the schema and the signature of a
// real event, but is not in the log: its sequence is 0, plugins do not receive it, and histories do not
// contain it.
import type { Static, TSchema } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { EventEnvelope } from '../../events/event.ts';
import type { Streams } from '../../events/stream/streams.ts';
import { compileCheck } from '../../http/validate.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { idPrefixes } from '../../lib/ids.ts';
import { scopeOfEvent } from '../../rights/rights.ts';
import { makeSampleDelivery, type DeliveryWork } from '../deliveries/deliveries.ts';
import { endpointModel } from '../endpoints/kind.ts';
import { payloadBytesMax } from '../payload.ts';
import { sampleData } from './data.ts';
import { sampleOf } from './sample-of.ts';
import type { SampleCreate } from './schema.ts';

export interface SampleEvent {
  readonly type: EventType;
  readonly envelope: TSchema;
}

export interface Samples {
  /** @throws ApiError insufficient_scope, validation_failed */
  make(ctx: Context, input: Static<typeof SampleCreate>): EventEnvelope;
}

export function createSamples(sent: readonly SampleEvent[]): Samples {
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
      const sample = sampleOf(known.envelope, setting) as EventEnvelope;
      const id = ctx.ids.next(idPrefixes.event);
      const event: EventEnvelope = {
        ...sample,
        id,
        workspace_id: ctx.workspaceId,
        sequence: 0,
        actor: ctx.actor,
        cause: { rootEventId: id, parentRunId: null, depth: 0, path: [] },
        data: { ...sample.data, ...sampleData(known, setting), ...data },
      };
      known.check(event);
      return event;
    },
  };
}

/** @throws ApiError not_found, conflict, insufficient_scope, validation_failed */
export async function deliverSample(
  ctx: Context,
  endpointId: string,
  input: Static<typeof SampleCreate>,
  samples: Samples,
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
export async function sendSample(
  ctx: Context,
  input: Static<typeof SampleCreate>,
  samples: Samples,
  streams: Streams,
): Promise<ChangeSet> {
  const event = samples.make(ctx, input);
  return {
    changes: [],
    afterCommit: () => streams.broadcast(ctx.workspaceId, event),
    body: { listeners: streams.listeners(ctx.workspaceId, event.type), event },
  };
}
