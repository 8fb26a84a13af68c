import { json, isoTime } from '../../../kernel/changes/operations.ts';
import { modelOf, type EntityOf } from '../../../kernel/resource/model.ts';
import { oauthApp } from '../contract.ts';
import type { StoredSecret } from './secret.ts';

const stored = {
  /** Newest first; empty for a public client. */
  secrets: json<readonly StoredSecret[]>('secrets_json'),
};
export type OAuthApp = EntityOf<typeof oauthApp, typeof stored>;

export const oauthAppModel = modelOf(oauthApp, {
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
