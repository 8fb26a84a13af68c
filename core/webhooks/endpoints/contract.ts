// Webhook endpoints: where events go, which of them, and whether deliveries are made.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, flag, json, string, text, time } from '../../contract/field.ts';
import { givenAs } from '../../lib/schema.ts';

/** Shapes of payloads. A change that could break a receiver is a new one; endpoints keep theirs. docs/spec/api.md › Changes within v1. */
const payloadVersions = ['v1'] as const;
const url = Type.String({
  minLength: 1,
  maxLength: 2000,
  description:
    'An https address; http only where the operator allows the network. The values of its query may be secrets: each is shown as `…`.',
});
const events = Type.Array(
  Type.String({
    pattern: '^(\\*|[a-z_]+\\.(\\*|[a-z_]+))$',
    description: 'An event type, a namespace such as `issue.*`, or `*`.',
    [givenAs]: 'eventPattern',
  }),
  { minItems: 1, maxItems: 100, uniqueItems: true },
);
const filter = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'A filter tree over what the events show, such as the fields of issues; each of the events must have the fields, and what it names must be there.',
  [givenAs]: 'eventFilter',
});

export const webhook = defineContract({
  name: 'webhook',
  path: 'webhooks',
  title: 'Webhook',
  id: 'whe',
  doc: 'An address that signed events go to.',
  fields: {
    url: string(url, { required: true, computed: true, doc: 'Where deliveries go.' }),
    description: string(Type.String({ maxLength: 500 }), { default: '', doc: 'What it is for, in words.' }),
    events: json(events, { required: true, doc: 'The events that it is sent.' }, Type.Array(Type.String())),
    filter: json(filter, { nullable: true, doc: 'Of those, the ones that pass; null for all.' }),
    ordering: choice(['none', 'entity'], {
      default: 'none',
      doc: 'With `entity`, events of one issue (or other object) are delivered one after the other: a failing one holds back those behind it. A change holds for deliveries made from then on.',
    }),
    payloadVersion: choice(payloadVersions, {
      default: 'v1',
      doc: 'The shape of the payload. It stays until this is changed, whatever newer shapes come.',
    }),
    enabled: flag({ default: true, write: 'update', doc: 'Whether deliveries are made.' }),
    disabledReason: text({
      max: 500,
      nullable: true,
      write: 'never',
      doc: 'Why it was switched off, where it was not by a person.',
    }),
    secretSince: time({ write: 'never', doc: 'Since when the signing secret is in use.' }),
    previousSecretExpiresAt: time({
      nullable: true,
      write: 'never',
      computed: true,
      doc: 'Until when deliveries are signed with the secret before as well.',
    }),
    previousSecretLastSucceededAt: time({
      nullable: true,
      write: 'never',
      computed: true,
      doc: 'When the secret before had last signed a delivery that succeeded, as of its rotation.',
    }),
  },
  undo: 'operations',
  operations: {
    list: 'List webhook endpoints, newest first',
    get: 'Get a webhook endpoint',
    update: 'Change a webhook endpoint, or switch it on or off',
    delete: 'Delete a webhook endpoint',
  },
  order: 'newest',
  events: {
    created: 'webhook.created',
    updated: 'webhook.updated',
    deleted: 'webhook.deleted',
    told: ['webhook.ping'],
    other: ['webhook.disabled', 'webhook.secret_rotated'],
  },
  keepsDeleted: true,
  examples: { update: { enabled: true } },
});
