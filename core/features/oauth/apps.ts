import { json, isoTime, getEntity, updated } from '../../kernel/changes/operations.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { oauthApp } from './contract.ts';
import { timingSafeEqual } from 'node:crypto';
import { checksum, randomText, tokenHash } from '../../platform/lib/secrets/tokens.ts';
import { Type, type Static } from 'typebox';
import type { ChangeSet, NewEntity } from '../../kernel/changes/change.ts';
import type { Created } from '../../kernel/contract/contract.ts';
import { schemasOf, responseProperties } from '../../kernel/contract/schemas.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { Closed, idOf, namedSchema, nullable, time, version } from '../../platform/lib/schema.ts';
import { hourMs } from '../../platform/lib/time/time.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { plainOperations } from '../../kernel/resource/operations.ts';
import { checkApp, requireRegistrar, requireCapacity } from './app-rules.ts';

const stored = {
  /** Newest first; empty for a public client. */
  secrets: json<readonly StoredSecret[]>('secrets_json'),
};
export type OAuthApp = EntityOf<typeof oauthApp, typeof stored>;

const oauthAppModel = modelOf(oauthApp, {
  table: 'oauth_apps',
  stored,
  shows: {
    verified: () => true,
    previousSecretExpiresAt: ({ secrets }) => isoTime(secrets[1]?.expiresAt ?? null),
  },
  events(before, after) {
    if (!before) return ['oauth_app.created'];
    if (after.deletedAt !== before.deletedAt) return ['oauth_app.deleted'];
    return [after.secrets === before.secrets ? 'oauth_app.updated' : 'oauth_app.secret_rotated'];
  },
});

const prefix = 'ttms_';
const randomLength = 32;

export interface StoredSecret {
  readonly hash: string;
  /** Milliseconds since the epoch; null for the newest secret, which is valid until the next rotation. */
  readonly expiresAt: number | null;
}

interface MintedSecret extends StoredSecret {
  readonly text: string;
}

/**
 * Returns `ttms_` and 38 characters, of which the last six are a checksum. Secret scanners recognize the
 * prefix, and a mistyped secret is rejected without a look-up. Only the SHA-256 is stored: 190 random bits
 * need no slower hash.
 */
export function mintClientSecret(): MintedSecret {
  const random = randomText(randomLength);
  const text = `${prefix}${random}${checksum(random)}`;
  return { text, hash: tokenHash(text), expiresAt: null };
}

/** Returns true if the text is one of the secrets and has not expired. The comparison takes constant time. */
export function isSecretOf(secrets: readonly StoredSecret[], text: string, nowMs: number): boolean {
  const match = /^ttms_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(text);
  if (!match || checksum(match[1]!) !== match[2]) return false;
  const hash = Buffer.from(tokenHash(text));
  let isGood = false;
  for (const secret of secrets)
    if (timingSafeEqual(hash, Buffer.from(secret.hash)))
      isGood = secret.expiresAt === null || nowMs < secret.expiresAt;
  return isGood;
}

const graceHoursDefault = 24;
/** Limits the cost of a token request, which compares the given secret with each of these. */
const earlierMax = 4;

const { create: example } = oauthApp.examples;
const OAuthAppCreated = namedSchema(
  'OAuthAppCreated',
  Closed({
    ...responseProperties(oauthApp),
    secret: nullable(
      Type.String({
        description: 'Client secret of a confidential app, shown only in this response; null for other apps.',
      }),
    ),
  }),
);
const SecretRotate = namedSchema(
  'OAuthAppSecretRotate',
  Closed({
    graceHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 168,
        description: `Hours for which earlier secrets stay valid, default ${graceHoursDefault}; 0 revokes all of them immediately.`,
      }),
    ),
  }),
);
const SecretRotated = namedSchema(
  'OAuthAppSecretRotated',
  Closed({
    id: idOf(oauthApp.id),
    secret: Type.String({ description: 'New client secret, shown only in this response.' }),
    previousSecretExpiresAt: time,
    version,
  }),
);

const check = (_: Context, after: NewEntity<OAuthApp>, before: OAuthApp | null): void =>
  checkApp(after, before);
const plain = plainOperations(oauthApp, oauthAppModel, { check });

export const oauthApps = defineResource(oauthApp, oauthAppModel, {
  operations: {
    async update(ctx, id, patch, ifMatch) {
      await requireRegistrar(ctx);
      return plain.update(ctx, id, patch, ifMatch);
    },
    async delete(ctx, id, ifMatch) {
      await requireRegistrar(ctx);
      return plain.delete(ctx, id, ifMatch);
    },
  },
  routes: [
    defineRoute({
      method: 'POST',
      path: '/api/v1/oauth-apps',
      name: 'oauth-apps.create',
      summary: 'Register an OAuth app; the secret of a confidential one is shown once',
      scope: 'oauth-apps:write',
      limit: 'write',
      body: schemasOf(oauthApp).create,
      example: { ...example, redirectUris: [...example.redirectUris] },
      errors: ['forbidden', 'conflict'],
      responses: { 201: OAuthAppCreated },
      secret: true,
      write: (ctx, { body }) => registerApp(ctx, body),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/oauth-apps/{id}/rotate-secret',
      name: 'oauth-apps.rotate-secret',
      summary: 'Rotate the secret of an OAuth app; the new secret is shown once',
      description: 'Earlier secrets stay valid for `graceHours`.',
      scope: 'oauth-apps:write',
      limit: 'write',
      params: Closed({ id: idOf(oauthApp.id) }),
      body: SecretRotate,
      example: { graceHours: 24 },
      errors: ['forbidden', 'conflict'],
      responses: { 200: SecretRotated },
      secret: true,
      write: (ctx, { params, body, ifMatch }) => rotateSecret(ctx, params.id, body, ifMatch),
    }),
  ],
});

/** @throws ApiError forbidden, validation_failed, conflict */
async function registerApp(ctx: Context, input: Created<typeof oauthApp>): Promise<ChangeSet> {
  await requireRegistrar(ctx);
  const { name, description = '', homepage = null, redirectUris, confidential = false } = input;
  checkApp({ name, homepage, redirectUris }, null);
  const capacityGuard = await requireCapacity(ctx);
  const secret = confidential ? mintClientSecret() : null;
  const now = ctx.nowMs();
  const change = oauthAppModel.create({
    id: ctx.ids.next(oauthApp.id),
    name,
    description,
    homepage,
    redirectUris,
    confidential,
    secrets: secret ? [storedSecretOf(secret)] : [],
    secretSince: secret ? now : null,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  });
  return {
    changes: [change],
    ops: [capacityGuard],
    body: { ...oauthAppModel.toResponse(change.after, ctx), secret: secret?.text ?? null },
    status: 201,
    location: `${ctx.baseUrl}/api/v1/oauth-apps/${change.id}`,
  };
}

/**
 * @throws ApiError forbidden, not_found; conflict for a public client, and while too many earlier secrets are
 * valid
 */
async function rotateSecret(
  ctx: Context,
  id: string,
  { graceHours = graceHoursDefault }: Static<typeof SecretRotate>,
  ifMatch: number | null,
): Promise<ChangeSet> {
  await requireRegistrar(ctx);
  const app = await getEntity(ctx, oauthAppModel, id);
  const now = ctx.nowMs();
  const expiresAt = now + graceHours * hourMs;
  const secret = mintClientSecret();
  const secrets = [storedSecretOf(secret), ...earlierSecrets(app, now, expiresAt)];
  const set = updated(ctx, oauthAppModel, app, { secrets, secretSince: now }, ifMatch);
  return {
    ...set,
    body: {
      id,
      secret: secret.text,
      previousSecretExpiresAt: isoTime(expiresAt),
      version: app.version + 1,
    },
  };
}

/**
 * Returns the earlier secrets that stay valid. The new grace period limits all of them, so `graceHours: 0`
 * ends them.
 */
function earlierSecrets({ confidential, secrets }: OAuthApp, now: number, until: number): StoredSecret[] {
  if (!confidential)
    throw new ApiError(
      'conflict',
      'This app is not confidential and has no secret. Register a confidential app instead.',
    );
  const earlier = secrets
    .map(({ hash, expiresAt }) => ({ hash, expiresAt: Math.min(expiresAt ?? Infinity, until) }))
    .filter(({ expiresAt }) => expiresAt > now);
  if (earlier.length > earlierMax)
    throw new ApiError(
      'conflict',
      `${earlierMax} earlier secrets are still valid. Wait until one expires, or rotate with graceHours 0 to end them all.`,
    );
  return earlier;
}

function storedSecretOf({ hash, expiresAt }: StoredSecret): StoredSecret {
  return { hash, expiresAt };
}
