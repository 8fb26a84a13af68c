// API keys: what a member lets a program do in the workspace. Shown once, stored as a hash.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { json, reference, string, text, time } from '../../contract/field.ts';
import { idOf } from '../../lib/schema.ts';
import { member } from '../members/contract.ts';

const scopes = Type.Array(Type.String({ description: 'Such as `issues:read`.' }), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
});

export const apiKey = defineContract({
  name: 'api_key',
  path: 'api-keys',
  title: 'ApiKey',
  id: 'key',
  doc: 'What a member lets a program do.',
  fields: {
    name: text({ max: 80, required: true, doc: 'What it is for.' }),
    prefix: string(Type.String({ description: 'The public part: ttm_<prefix>_….' }), { write: 'never' }),
    scopes: json(scopes, { write: 'never', doc: 'What it may do.' }),
    member: reference(member, { write: 'never', doc: 'Whom it acts for.' }),
    expiresAt: time({ nullable: true, write: 'create', doc: 'From when on it is refused; null for never.' }),
    revokedAt: time({ nullable: true, write: 'never', doc: 'When it was revoked; null while it is not.' }),
    lastUsedAt: time({
      nullable: true,
      write: 'never',
      unlogged: true,
      doc: 'When a request last came with it, up to a minute late; null for never.',
    }),
    replacedBy: string(idOf('key', 'The key that took its place when it was rolled.'), {
      nullable: true,
      write: 'never',
    }),
  },
  undo: { never: 'A change of an API key cannot be undone: mint another key.' },
  operations: {
    list: 'List API keys, newest first',
    get: 'Get an API key without its secret',
    delete: 'Revoke an API key at once',
  },
  ofMember: true,
  order: 'newest',
  events: { created: 'api_key.created', other: ['api_key.rolled', 'api_key.revoked'] },
});
