import { Type } from 'typebox';
import { defineContract } from '../../../kernel/contract/contract.ts';
import { flag, json, string, text, time } from '../../../kernel/contract/field.ts';
import { displayNameMax } from '../../../platform/lib/display-name.ts';

const redirectUris = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: 1000,
    description:
      'An https URI, an http URI of a loopback host (127.0.0.1, [::1] or localhost), or a URI with a private-use scheme that contains a dot (RFC 8252 §7.1).',
  }),
  { minItems: 1, maxItems: 10, uniqueItems: true },
);
const homepage = Type.String({ maxLength: 500, pattern: '^https://\\S+$', description: 'An https URL.' });

export const oauthApp = defineContract({
  name: 'oauth_app',
  path: 'oauth-apps',
  title: 'OAuthApp',
  id: 'app',
  doc: 'Third-party program that members can authorize with OAuth 2. Its `id` is the `client_id`.',
  fields: {
    name: text({
      max: displayNameMax,
      required: true,
      isVerbatim: true,
      doc: 'Name of the app, shown on the consent page.',
    }),
    description: string(Type.String({ maxLength: 500 }), { default: '', doc: 'Description of the app.' }),
    homepage: string(homepage, { nullable: true, doc: 'Website of the app.' }),
    redirectUris: json(redirectUris, {
      required: true,
      doc: 'Allowed redirect URIs, compared exactly; loopback URIs match with any port.',
    }),
    confidential: flag({
      default: false,
      write: 'create',
      doc: 'True for confidential clients, which can keep a client secret; default false.',
    }),
    verified: flag({
      write: 'never',
      computed: true,
      doc: 'True if an admin of this workspace registered the app, which the consent page shows.',
    }),
    secretSince: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the current secret was created; null for a public client.',
    }),
    previousSecretExpiresAt: time({
      nullable: true,
      write: 'never',
      computed: true,
      doc: 'Time until which the previous secret stays valid; null if there is none.',
    }),
  },
  undo: 'operations',
  operations: {
    list: 'List OAuth apps, newest first',
    get: 'Get an OAuth app without its secret',
    update: { summary: 'Change an OAuth app', errors: ['forbidden'] },
    delete: {
      summary: 'Delete an OAuth app and end all its grants',
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
  retainsDeleted: true,
  examples: {
    create: {
      name: 'Acme Reports',
      description: 'Weekly reports of completed work.',
      homepage: 'https://acme.example/reports',
      redirectUris: ['https://reports.acme.example/callback'],
      confidential: true,
    },
    update: { redirectUris: ['https://app.acme.example/callback'] },
  },
});
