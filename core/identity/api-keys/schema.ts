// API keys: what a member lets a program do in the workspace. Shown once, stored as a hash.
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind, json } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import { allScopes } from '../../rights/scopes.ts';
import { Closed, id, named, nullable, text, time, version } from '../../lib/schema.ts';

const scopes = Type.Array(Type.Enum([...allScopes]), { minItems: 1, maxItems: 100, uniqueItems: true });

const shown = {
  id: id('apiKey'),
  name: Type.String(),
  prefix: Type.String({ description: 'The public part: ttm_<prefix>_….' }),
  scopes,
  member: Closed({ id: id('member'), name: Type.String() }),
  expiresAt: nullable(time),
  revokedAt: nullable(time),
  version,
  createdAt: time,
  updatedAt: time,
};
export const ApiKeyShown = named('ApiKey', Closed(shown));
export const ApiKeyMinted = named(
  'ApiKeyMinted',
  Closed({ ...shown, key: Type.String({ description: 'The whole key. It is shown this once.' }) }),
);
export const ApiKeyCreate = Closed({
  name: text(80),
  scopes,
  expiresAt: Type.Optional(
    nullable(
      Type.String({
        maxLength: 40,
        description: 'ISO 8601 time in the future; null or absent never expires.',
      }),
    ),
  ),
});

export interface ApiKey extends Entity {
  readonly name: string;
  readonly prefix: string;
  readonly secretHash: string;
  readonly scopes: readonly string[];
  readonly memberId: string;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const apiKeyKind = defineKind<ApiKey, Static<typeof ApiKeyShown>>({
  name: 'api_key',
  table: 'api_keys',
  fields: {
    name: 'name',
    prefix: 'prefix',
    secretHash: 'secret_hash',
    scopes: json('scopes_json'),
    memberId: 'member_id',
    expiresAt: 'expires_at',
    revokedAt: 'revoked_at',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
  },
  wire: (key, { directory }) => ({
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: [...key.scopes],
    member: { id: key.memberId, name: directory.members.get(key.memberId)?.name ?? '' },
    expiresAt: isoTime(key.expiresAt),
    revokedAt: isoTime(key.revokedAt),
    version: key.version,
    createdAt: isoTime(key.createdAt),
    updatedAt: isoTime(key.updatedAt),
  }),
  events: (before) => (before ? ['api_key.revoked'] : ['api_key.created']),
});
