// Generates the `webhooks` section: each event type as the request that a receiver gets. docs/spec/api.md ›
// OpenAPI document.
import { Type, type TSchema } from 'typebox';
import { Closed, namedSchema } from '../../../platform/lib/schema.ts';
import { nameOf, type Components, type JsonObject } from './components.ts';
import { exampleByName } from './examples.ts';
import { deliveryParameters } from './headers.ts';

export interface SentEvent {
  readonly type: string;
  readonly envelope: TSchema;
}

const Truncated = namedSchema(
  'TruncatedData',
  Closed(
    {
      id: Type.String({ description: 'Id of the changed object.' }),
      identifier: Type.Optional(
        Type.String({ description: 'Identifier of the issue, such as `ENG-42`; issues only.' }),
      ),
      url: Type.Optional(Type.String({ format: 'uri', description: 'URL of the issue page; issues only.' })),
      truncated: Type.Literal(true, { description: 'True for truncated data.' }),
      event: Type.String({ format: 'uri', description: 'URL of the complete event.' }),
    },
    { description: 'Replacement for the object if the delivery would be larger than 256 KiB.' },
  ),
);

const description =
  'A signed delivery. Verify `X-Webhook-Signature` against the bytes of the body, then respond with 2xx within 15 seconds.';

export function describeWebhooks(
  events: readonly SentEvent[],
  components: Components,
): Record<string, JsonObject> {
  return Object.fromEntries(
    events.map((event) => [
      event.type,
      {
        post: {
          operationId: `webhook.${event.type}`,
          tags: ['webhooks'],
          security: [],
          summary: `Receive ${event.type} events`,
          description,
          parameters: [...Object.keys(deliveryParameters), 'Traceparent'].map((name) => ({
            $ref: `#/components/parameters/${name}`,
          })),
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: deliveredEvent(event, components),
                ...exampleByName(`webhook.${event.type}`),
              },
            },
          },
          responses: {
            '2XX': { description: 'Received.' },
            '410': { description: 'Receiver gone: Tatami disables the endpoint.' },
            default: { description: 'Failure: Tatami retries the delivery.' },
          },
        },
      },
    ]),
  );
}

/** Properties that all events share are in one base schema, so that each event adds only its type and data. */
function deliveredEvent({ type, envelope }: SentEvent, components: Components): JsonObject {
  const { properties } = deliveredAs(envelope) as { properties: Record<string, TSchema> };
  const { type: ownType, data, ...shared } = properties;
  const base = components.schema('EventEnvelope', () => ({
    ...(components.ref(Closed(shared), 'shown') as JsonObject),
    description: 'Properties that all events share.',
  }));
  const own = Closed({ type: ownType!, data: data! });
  return components.schema(`${nameOf(type)}Event`, () => ({
    description: `The event \`${type}\`.`,
    allOf: [base, components.ref(own, 'shown')],
  }));
}

/** Returns the envelope with complete or truncated `data`. */
export function deliveredAs(envelope: TSchema): TSchema {
  const { properties } = envelope as { properties: Record<string, TSchema> };
  const data = Type.Union([properties.data!, Truncated], {
    description: 'Object at the time of the event. For a change, `previous` has the earlier values.',
  });
  return Closed({ ...properties, data });
}
