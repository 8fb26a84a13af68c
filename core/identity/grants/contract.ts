// Grants: what a member lets an app do on their behalf. Consent makes them; every token of the app acts within one.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, json, reference, string, time } from '../../contract/field.ts';
import { guardedClasses } from '../../lib/guarded.ts';
import { Closed, enumeration } from '../../lib/schema.ts';
import { member } from '../members/contract.ts';

/** An app that an admin of the workspace registered, one that registered itself (RFC 7591), one that says who it is at an address. */
const clientKinds = ['app', 'registered', 'document'] as const;
export type ClientKind = (typeof clientKinds)[number];

const client = Closed({
  id: Type.String({ description: 'Its `client_id`.' }),
  name: Type.String({ description: 'What it was called when it was let in.' }),
  kind: enumeration(
    'OAuthClientKind',
    clientKinds,
    '`app`: registered by an admin of a workspace; `registered`: it registered itself; `document`: it says who it is at the address that is its id.',
  ),
  verified: Type.Boolean({
    description: 'Whether an admin of this workspace had registered it. Of others the name is what they say.',
  }),
});
const scope = Type.String({ maxLength: 100, description: 'Such as `issues:read`; write implies read.' });
const guardedClass = enumeration(
  'GuardedClass',
  guardedClasses,
  'What waits for a person: deletions, changes of many objects, finishing issues, changes of what is not its own.',
);

export const grant = defineContract({
  name: 'grant',
  path: 'grants',
  title: 'Grant',
  id: 'grt',
  doc: 'What a member lets an app do. It can be narrowed and revoked, and never widened: that takes another consent.',
  fields: {
    member: reference(member, { write: 'never', filter: 'id', doc: 'Whom the app acts for.' }),
    client: json(client, { write: 'never', computed: true, doc: 'The app.' }),
    redirectHost: string(Type.String(), {
      nullable: true,
      write: 'never',
      doc: 'Where the browser was sent after the consent: a host, or the scheme of an app on the device; null where a code was typed in.',
    }),
    resource: choice(['api', 'mcp'], {
      write: 'never',
      filter: true,
      doc: 'What its tokens are for: the REST API, or the MCP endpoint.',
    }),
    scopes: json(
      Type.Array(scope, { minItems: 1, maxItems: 100, uniqueItems: true }),
      {
        write: 'update',
        doc: 'What it may do at most: never more than its member may. An update takes some away.',
      },
      Type.Array(scope),
    ),
    guarded: json(Type.Array(guardedClass, { maxItems: guardedClasses.length, uniqueItems: true }), {
      write: 'update',
      doc: 'What waits for a person where an agent asks for it, beside what the workspace says. An update adds some.',
    }),
    lastUsedAt: time({
      nullable: true,
      write: 'never',
      unlogged: true,
      doc: 'When a request last came by it, up to a minute late; null for never.',
    }),
    revokedAt: time({ nullable: true, write: 'never', doc: 'When it ended; null while it has not.' }),
  },
  ofMember: true,
  heardBy: 'audit:read',
  undo: { never: 'A change of a grant cannot be undone: the app has to ask the member again.' },
  operations: {
    list: {
      summary: 'List what members let apps do, newest first',
      description: 'One’s own; admins and owners are shown those of all members.',
      errors: ['forbidden'],
    },
    get: { summary: 'Get a grant', errors: ['forbidden'] },
    update: { summary: 'Take scopes of a grant away, or guard more', errors: ['forbidden', 'conflict'] },
    delete: { summary: 'Revoke a grant: its tokens end at once', errors: ['forbidden'] },
  },
  order: 'newest',
  events: { created: 'grant.created', updated: 'grant.updated', other: ['grant.revoked'] },
  examples: { update: { scopes: ['issues:read'] } },
});
