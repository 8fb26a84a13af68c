// Dynamic client registration (RFC 7591), and management of a registration with its access token (RFC 7592).
// Self-registered clients belong to the installation, because the member chooses the workspace at the
// consent. Anybody can register, so registrations are limited per client address, and a client without a
// grant is removed after a day, or earlier if there are too many.
import type { IdentityDeps } from '../../people/index.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { dayMs, hourMs } from '../../../platform/lib/time/time.ts';
import { systemStatement } from '../../../platform/store/statement.ts';
import { systemOp } from '../../../platform/store/store.ts';
import { type OAuthClient, type SaidOfItself, protocolMetadata, readMetadata } from './client.ts';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createLru } from '../../../platform/lib/lru.ts';
import { tokenHash } from '../../../platform/lib/secrets/tokens.ts';
import { mintClientSecret } from '../apps.ts';
import type { RowOf } from '../../../kernel/table/define.ts';
import type { oauthClientTable } from '../tables.ts';

/** Lifetime of a registration without a grant. */
const unusedForMs = dayMs;
/** Maximum number of clients without a grant; the oldest are removed first. */
export const unusedMax = 10_000;

const why = 'a client that registered itself belongs to the installation';

const findRow = systemStatement<
  Pick<RowOf<typeof oauthClientTable>, 'metadata_json' | 'secret_hash' | 'token_hash' | 'created_at'>
>(
  'oauth_clients.find',
  why,
  `SELECT metadata_json, secret_hash, token_hash, created_at FROM oauth_clients
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
interface Registered extends StoredHashes {
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

/** Maximum number of registrations per client address and hour. */
const registrationsMax = 20;
const peersMax = 10_000;
const tokenPrefix = 'ttmr_';

const terms = { methods: ['client_secret_basic', 'client_secret_post', 'none'] };

/** Client information response (RFC 7591 §3.2.1). */
type Information = Readonly<Record<string, unknown>>;

export interface Registration {
  /** @throws ClientRefused, RegistrationFlood */
  register(metadata: unknown, peer: string): Promise<Information>;
  /** @returns null for an unknown client or a wrong token */
  read(clientId: string, token: string): Promise<Information | null>;
  /**
   * Replaces the metadata and the registration access token.
   * @returns null for an unknown client or a wrong token
   * @throws ClientRefused
   */
  replace(clientId: string, token: string, metadata: unknown): Promise<Information | null>;
  /**
   * Deletes the client, which ends its grants.
   * @returns false for an unknown client or a wrong token
   */
  remove(clientId: string, token: string): Promise<boolean>;
}

/** Error of a client address that has reached the limit of registrations. */
export class RegistrationFlood extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super(`Too many registrations from your address. Try again in ${retryAfterSeconds} s.`);
    this.name = 'RegistrationFlood';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function createRegistration(options: {
  services: IdentityDeps;
  registered: RegisteredClients;
  /** Called after a removal to clear cached tokens and to end the grants of the client. */
  gone: () => void;
}): Registration {
  const { services, registered, gone } = options;
  const { ids, nowMs, baseUrl } = services;
  const requirePeerQuota = createPeerBound(nowMs);

  const find = async (clientId: string, token: string): Promise<Registered | null> => {
    const registeredClient = await registered.find(clientId);
    const isOwn =
      registeredClient &&
      timingSafeEqual(Buffer.from(tokenHash(token)), Buffer.from(registeredClient.tokenHash));
    return isOwn ? registeredClient : null;
  };
  const managed = (id: string, token: string): Information => ({
    registration_client_uri: `${baseUrl}/oauth/register/${id}`,
    registration_access_token: token,
  });

  return {
    async register(metadata, peer) {
      requirePeerQuota(peer);
      const said = readMetadata(metadata, terms);
      const id = ids.next(idPrefixes.client);
      const secret = said.confidential ? mintClientSecret() : null;
      const token = mintToken();
      await registered.insert(id, said, { secretHash: secret?.hash ?? null, tokenHash: tokenHash(token) });
      return { ...informationOf(id, said, nowMs(), secret?.text), ...managed(id, token) };
    },
    async read(clientId, token) {
      const registeredClient = await find(clientId, token);
      return (
        registeredClient && {
          ...informationOf(clientId, registeredClient.client, registeredClient.createdAt),
          ...managed(clientId, token),
        }
      );
    },
    async replace(clientId, token, metadata) {
      const registeredClient = await find(clientId, token);
      if (!registeredClient) return null;
      const said = readMetadata(metadata, terms);
      // Clients that become confidential get a secret. Confidential clients retain theirs, which is not shown
      // again.
      const secret = said.confidential && registeredClient.secretHash === null ? mintClientSecret() : null;
      const secretHash = said.confidential ? (registeredClient.secretHash ?? secret?.hash ?? null) : null;
      const successor = mintToken();
      const hashes = { secretHash, tokenHash: tokenHash(successor) };
      if (!(await registered.update(clientId, said, hashes, registeredClient.tokenHash))) return null;
      return {
        ...informationOf(clientId, said, registeredClient.createdAt, secret?.text),
        ...managed(clientId, successor),
      };
    },
    async remove(clientId, token) {
      if (!(await find(clientId, token))) return false;
      await registered.remove(clientId);
      gone();
      return true;
    },
  };
}

/** @param secret new client secret, to be shown once */
function informationOf(id: string, said: SaidOfItself, createdAt: number, secret?: string): Information {
  const client = { id, kind: 'registered', ...said, registeredIn: null } as const;
  const { client_secret: _, ...metadata } = protocolMetadata(client);
  return {
    ...metadata,
    client_id_issued_at: Math.floor(createdAt / 1000),
    ...(secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
  };
}

function mintToken(): string {
  return tokenPrefix + randomBytes(32).toString('base64url');
}

/** Returns a function that counts a registration and throws RegistrationFlood above the limit. */
function createPeerBound(nowMs: () => number): (peer: string) => void {
  const peers = createLru<string, { count: number; untilMs: number }>(peersMax);
  return (peer) => {
    const now = nowMs();
    const open = peers.get(peer);
    const bucket = open && now < open.untilMs ? open : { count: 0, untilMs: now + hourMs };
    if (bucket.count >= registrationsMax)
      throw new RegistrationFlood(Math.ceil((bucket.untilMs - now) / 1000));
    bucket.count++;
    peers.set(peer, bucket);
  };
}
