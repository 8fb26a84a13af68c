// The webhooks section: each event type as the request that a receiver gets. docs/spec/api.md › The document.
import { Type, type TSchema } from 'typebox';
import { Closed, named } from '../../lib/schema.ts';
import type { Components, JsonObject } from './components.ts';
import { exampleNamed } from './examples.ts';
import { deliveryParameters } from './headers.ts';
import { nameOf } from './names.ts';

/** An event type that is sent today, with the schema of its envelope. */
export interface SentEvent {
  readonly type: string;
  readonly envelope: TSchema;
}

const Truncated = named(
  'TruncatedData',
  Closed(
    {
      id: Type.String({ description: 'The object that the event is about.' }),
      identifier: Type.Optional(Type.String({ description: 'Of an issue, such as `ENG-42`.' })),
      url: Type.Optional(Type.String({ format: 'uri', description: 'Of an issue: its page.' })),
      truncated: Type.Literal(true, { description: 'Says that this is not the object.' }),
      event: Type.String({ format: 'uri', description: 'Where the whole event can be read.' }),
    },
    { description: 'In place of the object where the delivery would be larger than 256 KiB.' },
  ),
);

const description =
  'A signed delivery. Verify `X-Webhook-Signature` against the bytes of the body, then answer 2xx within 15 seconds.';

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
          summary: `The event ${event.type}`,
          description,
          parameters: [...Object.keys(deliveryParameters), 'Traceparent'].map((name) => ({
            $ref: `#/components/parameters/${name}`,
          })),
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: deliveredEvent(event, components),
                ...exampleNamed(`webhook.${event.type}`),
              },
            },
          },
          responses: {
            '2XX': { description: 'Received.' },
            '410': { description: 'The endpoint is switched off.' },
            default: { description: 'Not received; the delivery is tried again later.' },
          },
        },
      },
    ]),
  );
}

/** What all events share is said once, so that each says only its type and data. */
function deliveredEvent({ type, envelope }: SentEvent, components: Components): JsonObject {
  const { properties } = deliveredAs(envelope) as { properties: Record<string, TSchema> };
  const { type: ownType, data, ...shared } = properties;
  const base = components.schema('EventEnvelope', () => ({
    ...(components.ref(Closed(shared), 'shown') as JsonObject),
    description: 'What every event says of itself.',
  }));
  const own = Closed({ type: ownType!, data: data! });
  return components.schema(`${nameOf(type)}Event`, () => ({
    description: `The event \`${type}\`.`,
    allOf: [base, components.ref(own, 'shown')],
  }));
}

/** The envelope with `data` whole or cut. */
export function deliveredAs(envelope: TSchema): TSchema {
  const { properties } = envelope as { properties: Record<string, TSchema> };
  const data = Type.Union([properties.data!, Truncated], {
    description: 'The object as it was when the event happened; of a change, with what it was before.',
  });
  return Closed({ ...properties, data });
}
