import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { json, reference, string, text, time } from '../../kernel/contract/field.ts';
import { idOf } from '../../platform/lib/schema.ts';
import { member } from '../people/contract.ts';

const scopes = Type.Array(Type.String({ description: 'Scope such as `issues:read`.' }), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
});

export const apiKey = defineContract({
  name: 'api_key',
  path: 'api-keys',
  title: 'ApiKey',
  id: 'key',
  doc: 'Credential with which a program acts for a member.',
  fields: {
    name: text({ max: 80, required: true, doc: 'Name of the API key.' }),
    prefix: string(Type.String({ description: 'Public prefix of the key, as in ttm_<prefix>_….' }), {
      write: 'never',
    }),
    scopes: json(scopes, { write: 'never', doc: 'Scopes of the key.' }),
    member: reference(member, { write: 'never', doc: 'Member that the key acts for.' }),
    expiresAt: time({
      nullable: true,
      write: 'create',
      doc: 'Time at which the key expires; null for never.',
    }),
    revokedAt: time({ nullable: true, write: 'never', doc: 'Time of the revocation; null until then.' }),
    lastUsedAt: time({
      nullable: true,
      write: 'never',
      unlogged: true,
      doc: 'Time of the last request with the key, up to a minute late; null if never used.',
    }),
    replacedBy: string(idOf('key', 'Successor of the key; null if the key was not rolled.'), {
      nullable: true,
      write: 'never',
    }),
  },
  undo: { never: 'Changes to API keys cannot be undone. Create a new key.' },
  operations: {
    list: 'List API keys, newest first',
    get: 'Get an API key without its secret',
    delete: 'Revoke an API key immediately',
  },
  ofMember: true,
  order: 'newest',
  events: { created: 'api_key.created', other: ['api_key.rolled', 'api_key.revoked'] },
});
