// Grants: permissions that members give to apps by consent. Each access and refresh token belongs to a grant.
import { Type } from 'typebox';
import { defineContract } from '../../../kernel/contract/contract.ts';
import { choice, json, reference, string, time } from '../../../kernel/contract/field.ts';
import { guardedClasses } from '../../../platform/lib/guarded-classes.ts';
import { Closed, enumeration } from '../../../platform/lib/schema.ts';
import { member } from '../../people/members/contract.ts';

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
const guardedClass = enumeration(
  'GuardedClass',
  guardedClasses,
  'Class of actions that need approval. `delete`: deletions; `bulk`: changes of more than one issue at once; `finish`: issues that become completed, canceled or duplicates; `others`: changes of issues that the agent did not create.',
);

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
