// Finds the clients of the authorization server, and whether one proves who it is. The adapter of the protocol library for `Client` is
// `find` with `protocolMetadata`; it never writes: registration is `registration.ts`, since the library would keep secrets as they are.
import type { Services } from '../../context.ts';
import { isSecretOf, type KeptSecret } from '../../identity/oauth-apps/secret.ts';
import { systemStatement } from '../../store/statement.ts';
import { builtinClients } from './builtin.ts';
import { grantTypes, type OAuthClient } from './client.ts';
import type { Documents } from './documents.ts';
import type { RegisteredClients } from './registered.ts';

interface AppRow {
  workspace_id: string;
  name: string;
  homepage: string | null;
  redirect_uris_json: string;
  confidential: number;
  secrets_json: string;
}

const findAppRow = systemStatement<AppRow>(
  'oauth_apps.by_client',
  'a client_id names its workspace only once it has been found',
  `SELECT workspace_id, name, homepage, redirect_uris_json, confidential, secrets_json
   FROM oauth_apps WHERE id = :id AND deleted_at IS NULL`,
);

export interface Clients {
  /**
   * @param peer for whom a document is fetched
   * @returns null for an id that nobody has
   * @throws ClientRefused for a document that cannot be had, or says what no client may
   */
  find(clientId: string, peer?: string): Promise<OAuthClient | null>;
  /** Whether a text is a secret of a confidential client at this moment: while one is rotated, two are. */
  proves(clientId: string, secret: string): Promise<boolean>;
}

export function createClients(options: {
  services: Pick<Services, 'store' | 'nowMs'>;
  registered: Pick<RegisteredClients, 'find'>;
  documents: Documents;
}): Clients {
  const { services, registered, documents } = options;
  const { store, nowMs } = services;

  const findApp = async (id: string): Promise<AppRow | undefined> =>
    id.startsWith('app_') ? (await store.readSystem(findAppRow, { id }))[0] : undefined;

  return {
    async find(clientId, peer) {
      const builtin = builtinClients.get(clientId);
      if (builtin) return builtin;
      const app = await findApp(clientId);
      if (app) return appOf(clientId, app);
      return (await registered.find(clientId))?.client ?? documents.find(clientId, peer);
    },
    async proves(clientId, secret) {
      const app = await findApp(clientId);
      if (app) return isSecretOf(JSON.parse(app.secrets_json) as KeptSecret[], secret, nowMs());
      const hash = (await registered.find(clientId))?.secretHash ?? null;
      return hash !== null && isSecretOf([{ hash, expiresAt: null }], secret, nowMs());
    },
  };
}

function appOf(id: string, row: AppRow): OAuthClient {
  return {
    ...{ id, kind: 'app', name: row.name, homepage: row.homepage },
    redirectUris: JSON.parse(row.redirect_uris_json) as string[],
    confidential: row.confidential === 1,
    grantTypes,
    registeredIn: row.workspace_id,
  };
}
