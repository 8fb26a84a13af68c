// OAuth apps: programs of others that members can let act for them, registered by an admin of the workspace.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { flag, json, string, text, time } from '../../contract/field.ts';
import { shownNameMax } from '../../lib/shown-name.ts';

const redirectUris = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: 1000,
    description:
      'An https URI, an http one of this device (127.0.0.1, [::1] or localhost), or one of a private-use scheme with a dot (RFC 8252 §7.1).',
  }),
  { minItems: 1, maxItems: 10, uniqueItems: true },
);
const homepage = Type.String({ maxLength: 500, pattern: '^https://\\S+$', description: 'An https address.' });

export const oauthApp = defineContract({
  name: 'oauth_app',
  path: 'oauth-apps',
  title: 'OAuthApp',
  id: 'app',
  doc: 'A program of others that members can let act for them, by OAuth 2. Its id is its `client_id`.',
  fields: {
    name: text({ max: shownNameMax, required: true, asGiven: true, doc: 'What people are asked to let in.' }),
    description: string(Type.String({ maxLength: 500 }), { default: '', doc: 'What it does, in words.' }),
    homepage: string(homepage, { nullable: true, doc: 'Where people read about it.' }),
    redirectUris: json(redirectUris, {
      required: true,
      doc: 'Where browsers may be sent back to. They are compared letter by letter; of loopback ones any port will do.',
    }),
    confidential: flag({
      default: false,
      write: 'create',
      doc: 'Whether it keeps a secret, as programs on a server do; what runs on the devices of people cannot.',
    }),
    verified: flag({
      write: 'never',
      computed: true,
      doc: 'That an admin of this workspace registered it: its members are told so when they are asked to let it in.',
    }),
    secretSince: time({
      nullable: true,
      write: 'never',
      doc: 'Since when its newest secret is good; null where it keeps none.',
    }),
    previousSecretExpiresAt: time({
      nullable: true,
      write: 'never',
      computed: true,
      doc: 'Until when the secret before is good as well.',
    }),
  },
  undo: 'operations',
  operations: {
    list: 'List OAuth apps, newest first',
    get: 'Get an OAuth app without its secret',
    update: { summary: 'Change an OAuth app', errors: ['forbidden'] },
    delete: {
      summary: 'Delete an OAuth app: what members granted it ends at once',
      errors: ['forbidden'],
    },
  },
  order: 'newest',
  events: {
    created: 'oauth_app.created',
    updated: 'oauth_app.updated',
    deleted: 'oauth_app.deleted',
    other: ['oauth_app.secret_rotated'],
  },
  keepsDeleted: true,
  examples: {
    create: {
      name: 'Acme Reports',
      description: 'Weekly reports of what was done.',
      homepage: 'https://acme.example/reports',
      redirectUris: ['https://reports.acme.example/callback'],
      confidential: true,
    },
    update: { redirectUris: ['https://app.acme.example/callback'] },
  },
});
