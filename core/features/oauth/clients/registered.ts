// Stores self-registered clients (RFC 7591). They belong to the installation, because the member chooses the
// workspace at the consent. Anybody can register, so a client without a grant is removed after a day, or
// earlier if there are too many.
import type { IdentityDeps } from '../../people/index.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { dayMs } from '../../../platform/lib/time/time.ts';
import { systemStatement } from '../../../platform/store/statement.ts';
import { systemOp } from '../../../platform/store/store.ts';
import type { OAuthClient } from './client.ts';
import type { SaidOfItself } from './metadata.ts';

/** Lifetime of a registration without a grant. */
const unusedForMs = dayMs;
/** Maximum number of clients without a grant; the oldest are removed first. */
export const unusedMax = 10_000;

interface RegisteredClientRow {
  id: string;
  metadata_json: string;
  secret_hash: string | null;
  token_hash: string;
  created_at: number;
}

const why = 'a client that registered itself belongs to the installation';

const findRow = systemStatement<RegisteredClientRow>(
  'oauth_clients.find',
  why,
  `SELECT id, metadata_json, secret_hash, token_hash, created_at FROM oauth_clients
   WHERE id = :id AND (used = 1 OR created_at > :since)`,
);
const insertRow = systemStatement(
  'oauth_clients.insert',
  why,
  `INSERT INTO oauth_clients (id, metadata_json, secret_hash, token_hash, created_at, updated_at)
   VALUES (:id, :metadata, :secretHash, :tokenHash, :now, :now)`,
);
const removeOldest = systemStatement(
  'oauth_clients.remove_oldest',
  why,
  `DELETE FROM oauth_clients WHERE id IN
     (SELECT id FROM oauth_clients WHERE used = 0 ORDER BY created_at, id
      LIMIT max(0, (SELECT count(*) FROM oauth_clients WHERE used = 0) - :max))`,
);
const updateRow = systemStatement(
  'oauth_clients.update',
  why,
  `UPDATE oauth_clients SET metadata_json = :metadata, secret_hash = :secretHash, token_hash = :tokenHash, updated_at = :now
   WHERE id = :id AND token_hash = :before`,
);
const deleteRow = systemStatement('oauth_clients.delete', why, 'DELETE FROM oauth_clients WHERE id = :id');

interface StoredHashes {
  readonly secretHash: string | null;
  readonly tokenHash: string;
}

/** Stored registration, with hashes of the client secret and of the registration access token (RFC 7592). */
export interface Registered extends StoredHashes {
  readonly client: OAuthClient;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface RegisteredClients {
  find(id: string): Promise<Registered | null>;
  insert(id: string, said: SaidOfItself, hashes: StoredHashes): Promise<void>;
  /**
   * @param before token hash as of the read
   * @returns false if the registration was changed or removed since the read
   */
  update(id: string, said: SaidOfItself, hashes: StoredHashes, before: string): Promise<boolean>;
  remove(id: string): Promise<void>;
}

export function createRegisteredClients({ store, nowMs }: IdentityDeps): RegisteredClients {
  return {
    async find(id) {
      if (!id.startsWith(`${idPrefixes.client}_`)) return null;
      const [row] = await store.readSystem(findRow, { id, since: nowMs() - unusedForMs });
      if (!row) return null;
      const said = JSON.parse(row.metadata_json) as SaidOfItself;
      return {
        client: { id, kind: 'registered', ...said, registeredIn: null },
        secretHash: row.secret_hash,
        tokenHash: row.token_hash,
        createdAt: row.created_at,
      };
    },
    async insert(id, said, { secretHash, tokenHash }) {
      const metadata = JSON.stringify(said);
      await store.commit([
        systemOp(insertRow, { id, metadata, secretHash, tokenHash, now: nowMs() }, { expectRows: 1 }),
        systemOp(removeOldest, { max: unusedMax }),
      ]);
    },
    async update(id, said, { secretHash, tokenHash }, before) {
      const metadata = JSON.stringify(said);
      const values = { id, metadata, secretHash, tokenHash, before, now: nowMs() };
      return (await store.commit([systemOp(updateRow, values, { expectRows: 1 })])).ok;
    },
    async remove(id) {
      await store.commit([systemOp(deleteRow, { id })]);
    },
  };
}
