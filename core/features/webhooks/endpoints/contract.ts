import { Type } from 'typebox';
import { defineContract } from '../../../kernel/contract/contract.ts';
import { choice, flag, json, string, text, time, pageUrl } from '../../../kernel/contract/field.ts';
import { inputForm } from '../../../platform/lib/schema.ts';

/**
 * Payload versions. A change that could break receivers gets a new version, and existing endpoints stay on
 * theirs. Spec: docs/spec/api.md › Changes within v1.
 */
const payloadVersions = ['v1'] as const;
const url = Type.String({
  minLength: 1,
  maxLength: 2000,
  description:
    'HTTPS URL; http only for networks the operator allows. Values in the query are treated as secrets and shown as `…`.',
});
const events = Type.Array(
  Type.String({
    pattern: '^(\\*|[a-z_]+\\.(\\*|[a-z_]+))$',
    description: 'Event type, namespace such as `issue.*`, or `*`.',
    [inputForm]: 'eventPattern',
  }),
  { minItems: 1, maxItems: 100, uniqueItems: true },
);
const filter = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Filter tree over the data of the events, such as the fields of issues. Every subscribed event type must have the fields, and referenced objects must exist.',
  [inputForm]: 'eventFilter',
});

export const webhook = defineContract({
  name: 'webhook',
  path: 'webhooks',
  title: 'Webhook',
  id: 'whe',
  doc: 'URL that receives signed events.',
  fields: {
    url: string(url, { required: true, computed: true, doc: 'URL that deliveries are sent to.' }),
    description: string(Type.String({ maxLength: 500 }), {
      default: '',
      doc: 'Description of the endpoint.',
    }),
    events: json(events, { required: true, doc: 'Subscribed event types.' }, Type.Array(Type.String())),
    filter: json(filter, { nullable: true, doc: 'Filter for the subscribed events; null for all of them.' }),
    ordering: choice(['none', 'entity'], {
      default: 'none',
      doc: 'Delivery order. With `entity`, events of one issue (or other object) are delivered one after the other, and a failing delivery delays those behind it. A change applies to new deliveries.',
    }),
    payloadVersion: choice(payloadVersions, {
      default: 'v1',
      doc: 'Version of the payload format; upgrades of the server do not change the version.',
    }),
    enabled: flag({
      default: true,
      write: 'update',
      doc: 'True if events are delivered to the endpoint; default true.',
    }),
    disabledReason: text({
      max: 500,
      nullable: true,
      write: 'never',
      doc: 'Reason for disabling the endpoint; null while enabled.',
    }),
    secretSince: time({ write: 'never', doc: 'Time since which the signing secret is in use.' }),
    previousSecretExpiresAt: time({
      nullable: true,
      write: 'never',
      computed: true,
      doc: 'Time until which deliveries are also signed with the previous secret; null if there is none.',
    }),
    previousSecretLastSucceededAt: time({
      nullable: true,
      write: 'never',
      computed: true,
      doc: 'Time of the last successful delivery signed with the previous secret, as of its rotation; null if none.',
    }),
    pageUrl: pageUrl('webhook'),
  },
  undo: 'operations',
  operations: {
    list: 'List webhook endpoints, newest first',
    get: 'Get a webhook endpoint',
    update: 'Update, enable or disable a webhook endpoint',
    delete: 'Delete a webhook endpoint',
  },
  order: 'newest',
  events: {
    created: 'webhook.created',
    updated: 'webhook.updated',
    deleted: 'webhook.deleted',
    announced: ['webhook.ping'],
    other: ['webhook.disabled', 'webhook.secret_rotated'],
  },
  retainsDeleted: true,
  examples: { update: { enabled: true } },
});
