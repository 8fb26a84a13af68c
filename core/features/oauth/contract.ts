import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, flag, json, reference, string, text, time } from '../../kernel/contract/field.ts';
import { displayNameMax } from '../../platform/lib/display-name.ts';
import { guardedClasses } from '../../platform/lib/guarded-classes.ts';
import { Closed, enumeration } from '../../platform/lib/schema.ts';
import { guardedClass, member } from '../people/contract.ts';

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

/**
 * `app`: registered by an admin of the workspace. `registered`: self-registered (RFC 7591). `document`:
 * identified by the URL of a metadata document.
 */
const clientTypes = ['app', 'registered', 'document'] as const;
export type ClientType = (typeof clientTypes)[number];

const client = Closed({
  id: Type.String({ description: '`client_id` of the app.' }),
  name: Type.String({ description: 'Name of the app at the time of the consent.' }),
  kind: enumeration(
    'OAuthClientKind',
    clientTypes,
    'Registration of the app. `app`: registered by an admin of a workspace; `registered`: registered itself (RFC 7591); `document`: identified by the URL of its metadata document.',
  ),
  verified: Type.Boolean({
    description:
      'True if an admin of this workspace registered the app. The name of any other app is unverified.',
  }),
});
const scope = Type.String({
  maxLength: 100,
  description: 'Scope such as `issues:read`. A write scope implies the read scope.',
});
export const grant = defineContract({
  name: 'grant',
  path: 'grants',
  title: 'Grant',
  id: 'grt',
  doc: 'Permission that a member gave to an app. A grant can be narrowed or revoked; more scopes need a new consent.',
  fields: {
    member: reference(member, { write: 'never', filter: 'id', doc: 'Member that the app acts for.' }),
    client: json(client, { write: 'never', computed: true, doc: 'App that has the grant.' }),
    redirectHost: string(Type.String(), {
      nullable: true,
      write: 'never',
      doc: 'Host, or private-use URI scheme, that the browser returned to after the consent; null for the device flow.',
    }),
    resource: choice(['api', 'mcp'], {
      write: 'never',
      filter: true,
      doc: 'Resource for which the tokens are valid: the REST API or the MCP endpoint.',
    }),
    scopes: json(
      Type.Array(scope, { minItems: 1, maxItems: 100, uniqueItems: true }),
      {
        write: 'update',
        doc: 'Scopes of the app, limited further by the rights of the member. An update can only remove scopes.',
      },
      Type.Array(scope),
    ),
    guarded: json(Type.Array(guardedClass, { maxItems: guardedClasses.length, uniqueItems: true }), {
      write: 'update',
      doc: 'Action classes that need approval when an agent requests them, in addition to those of the workspace. An update can only add classes.',
    }),
    lastUsedAt: time({
      nullable: true,
      write: 'never',
      unlogged: true,
      doc: 'Time of the last request with the grant, up to a minute late; null if never used.',
    }),
    revokedAt: time({
      nullable: true,
      write: 'never',
      doc: 'Time at which the grant ended; null until then.',
    }),
  },
  ofMember: true,
  subscriptionScope: 'audit:read',
  undo: { never: 'Changes to grants cannot be undone. The app must ask the member for consent again.' },
  operations: {
    list: {
      summary: 'List grants, newest first',
      description: 'Members see their own grants; admins and owners see those of all members.',
      errors: ['forbidden'],
    },
    get: { summary: 'Get a grant', errors: ['forbidden'] },
    update: {
      summary: 'Remove scopes from a grant, or add guarded classes',
      errors: ['forbidden', 'conflict'],
    },
    delete: { summary: 'Revoke a grant and all its tokens', errors: ['forbidden'] },
  },
  order: 'newest',
  events: { created: 'grant.created', updated: 'grant.updated', other: ['grant.revoked'] },
  examples: { update: { scopes: ['issues:read'] } },
});
