import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { string, text, time } from '../../kernel/contract/field.ts';

export const automationHost = defineContract({
  name: 'automation_host',
  path: 'automation-hosts',
  scope: 'workspace',
  title: 'AutomationHost',
  id: 'ath',
  doc: 'Server that automations may send requests to, added by an admin.',
  fields: {
    name: text({ max: 80, required: true, filter: true, doc: 'Name that the actions of automations use.' }),
    origin: string(
      Type.String({
        maxLength: 260,
        pattern: '^https?://[^/?#\\s]+$',
        description: 'Scheme, host and port, such as https://api.acme.dev.',
      }),
      { required: true, doc: 'Origin of the server.' },
    ),
    path: string(
      Type.String({
        maxLength: 500,
        pattern: '^/[!-~]*$',
        description: 'A path such as /v1/; one that ends with / includes all paths below it.',
      }),
      { nullable: true, doc: 'Allowed path; null for all paths.' },
    ),
    header: string(
      Type.String({
        maxLength: 80,
        pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
        description: 'A header such as authorization or x-api-key.',
      }),
      { nullable: true, doc: 'Header that the secret is sent in; null if the server needs none.' },
    ),
    format: string(
      Type.String({
        maxLength: 100,
        pattern: '^[ -z|~]*\\{\\}[ -z|~]*$',
        description: 'Text with {} in place of the secret, such as Bearer {}.',
      }),
      { nullable: true, doc: 'Format of the header; null for the secret alone.' },
    ),
    secretSetAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the secret was last set; null while unset.',
    }),
  },
  undo: { never: 'To undo a change of a host of automations, change it again.' },
  operations: {
    list: 'List the hosts of automations, oldest first',
    create: 'Add a host that automations may send requests to',
    get: 'Get a host of automations',
    update: {
      summary: 'Change a host of automations',
      description: 'A change of the origin, the path or the header removes the secret.',
    },
    delete: 'Remove a host of automations with its secret',
  },
  events: {
    created: 'automation_host.created',
    updated: 'automation_host.updated',
    deleted: 'automation_host.deleted',
  },
  retainsDeleted: true,
  examples: {
    create: {
      name: 'chat',
      origin: 'https://chat.acme.example',
      path: '/v1/',
      header: 'authorization',
      format: 'Bearer {}',
    },
    update: { path: '/v1/messages' },
  },
});
