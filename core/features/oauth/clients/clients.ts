// Finds and authenticates clients. `registration.ts` registers clients without the protocol library, because
// the library would store secrets in plain text.
import type { IdentityDeps } from '../../people/index.ts';
import { isSecretOf, type StoredSecret } from '../apps.ts';
import { systemStatement } from '../../../platform/store/statement.ts';
import { grantTypes, type OAuthClient } from './client.ts';
import type { Documents } from './documents.ts';
import type { RegisteredClients } from './registration.ts';
import type { Schema } from '../../../platform/store/generated/schema.ts';

const columns = [
  'workspace_id',
  'name',
  'homepage',
  'redirect_uris_json',
  'confidential',
  'secrets_json',
] as const;
type AppRow = Pick<Schema['oauth_apps'], (typeof columns)[number]>;

const findAppRow = systemStatement<AppRow>(
  'oauth_apps.by_client',
  'the workspace of a client_id is known only after the look-up',
  `SELECT ${columns.join(', ')} FROM oauth_apps WHERE id = :id AND deleted_at IS NULL`,
);

export interface Clients {
  /**
   * @param peer client address that the fetch of a document counts against
   * @returns null for an unknown id
   * @throws ClientRefused for a document that cannot be fetched or is invalid
   */
  find(clientId: string, peer?: string): Promise<OAuthClient | null>;
  /**
   * Returns true for a valid secret of a confidential client, which includes earlier secrets in their grace
   * period.
   */
  proves(clientId: string, secret: string): Promise<boolean>;
}

const commandLine: OAuthClient = {
  id: 'tatami-cli',
  kind: 'app',
  name: 'Tatami command line',
  homepage: null,
  redirectUris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
  confidential: false,
  grantTypes,
  registeredIn: null,
};
export const builtinClients: ReadonlyMap<string, OAuthClient> = new Map([[commandLine.id, commandLine]]);

export function createClients(options: {
  services: IdentityDeps;
  registered: RegisteredClients;
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
      if (app) return isSecretOf(JSON.parse(app.secrets_json) as StoredSecret[], secret, nowMs());
      const hash = (await registered.find(clientId))?.secretHash ?? null;
      return hash !== null && isSecretOf([{ hash, expiresAt: null }], secret, nowMs());
    },
  };
}

function appOf(id: string, row: AppRow): OAuthClient {
  return {
    id,
    kind: 'app',
    name: row.name,
    homepage: row.homepage,
    redirectUris: JSON.parse(row.redirect_uris_json) as string[],
    confidential: row.confidential === 1,
    grantTypes,
    registeredIn: row.workspace_id,
  };
}
