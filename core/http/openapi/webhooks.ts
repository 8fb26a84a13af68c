// The webhooks section: each event type as the request that a receiver gets. docs/spec/api.md › The document.
import { Type, type TSchema } from 'typebox';
import { Closed, named } from '../../lib/schema.ts';
import type { Components, JsonObject } from './components.ts';
import { deliveryParameters } from './headers.ts';

/** An event type that is sent today, with the schema of its envelope. */
export interface SentEvent {
  readonly type: string;
  readonly envelope: TSchema;
}

const Truncated = named(
  'TruncatedData',
  Closed(
    {
      id: Type.String(),
      identifier: Type.Optional(Type.String()),
      url: Type.Optional(Type.String({ format: 'uri' })),
      truncated: Type.Literal(true),
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
    events.map(({ type, envelope }) => [
      type,
      {
        post: {
          operationId: `webhook.${type}`,
          tags: ['webhooks'],
          security: [],
          summary: `The event ${type}`,
          description,
          parameters: [...Object.keys(deliveryParameters), 'Traceparent'].map((name) => ({
            $ref: `#/components/parameters/${name}`,
          })),
          requestBody: {
            required: true,
            content: { 'application/json': { schema: components.ref(deliveredAs(envelope)) } },
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

/** The envelope with `data` whole or cut. */
export function deliveredAs(envelope: TSchema): TSchema {
  const { properties } = envelope as { properties: Record<string, TSchema> };
  return Closed({ ...properties, data: Type.Union([properties.data!, Truncated]) });
}
