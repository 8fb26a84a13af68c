// Storage adapter of the protocol library: tokens and requests in the token table, clients from `Clients`,
// grants from the workspace. Library sessions are not stored, because Tatami's sessions identify people.
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { Provider } from 'oidc-provider/lib/provider.js';
import { InvalidClient, InvalidGrant } from 'oidc-provider/lib/helpers/errors.js';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { ClientRefused, protocolMetadata } from '../clients/client.ts';
import type { Clients } from '../clients/clients.ts';
import { refOf, type Grants } from '../grant-requests.ts';
import { resourceUrl } from '../metadata.ts';
import type { StoredToken, Tokens } from '../tokens.ts';

export interface Shelves {
  readonly tokens: Tokens;
  readonly grants: Grants;
  readonly clients: Clients;
  readonly baseUrl: string;
  nowMs(): number;
  /** Clears cached tokens. Called when an access token ends before its grant. */
  forget(): void;
}

const nothing = async (): Promise<undefined> => undefined;

const empty: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUserCode: nothing,
  findByUid: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

export function createAdapter(shelves: Shelves): (kind: string) => Adapter {
  return (kind) => {
    switch (kind) {
      case 'Session':
        return empty;
      case 'Client':
        return clientAdapter(shelves);
      case 'Grant':
        return grantAdapter(shelves);
      default:
        return tokenAdapter(kind, shelves);
    }
  };
}

function clientAdapter({ clients }: Shelves): Adapter {
  return {
    ...empty,
    async find(id) {
      try {
        // The library does not pass the client address, but runs each request in a context (`bridge.ts`).
        const client = await clients.find(id, Provider.ctx?.req.socket.remoteAddress ?? '');
        return client
          ? ({ ...protocolMetadata(client), response_modes: ['query'] } as AdapterPayload)
          : undefined;
      } catch (error) {
        throw error instanceof ClientRefused ? new InvalidClient(error.message) : error;
      }
    },
  };
}

/**
 * Writes nothing, because the consent page creates grants. The library destroys a grant to revoke all its
 * tokens.
 */
function grantAdapter({ grants, baseUrl }: Shelves): Adapter {
  return {
    ...empty,
    async find(word) {
      const grant = await grants.find(refOf(word));
      if (!grant) return undefined;
      const { memberId, clientId, resource, scopes } = grant;
      return {
        kind: 'Grant',
        jti: word,
        accountId: memberId,
        clientId,
        resources: { [resourceUrl(baseUrl, resource)]: scopes.join(' ') },
      };
    },
    destroy: (word) => grants.revoke(refOf(word)),
  };
}

function tokenAdapter(kind: string, { tokens, grants, nowMs, forget }: Shelves): Adapter {
  /** Converts the expiry from the clock of the server to the system clock, which the library reads. */
  const payloadOf = (token: string, stored: StoredToken | null): AdapterPayload | undefined => {
    if (!stored) return undefined;
    const { payload, isConsumed, expiresAt } = stored;
    const leftSeconds = expiresAt === null ? null : Math.floor((expiresAt - nowMs()) / 1000);
    return {
      ...payload,
      jti: token,
      ...(leftSeconds === null ? {} : { exp: Math.floor(systemClock.nowMs() / 1000) + leftSeconds }),
      ...(isConsumed ? { consumed: true } : {}),
    };
  };
  return {
    ...empty,
    upsert: (token, payload, seconds) => tokens.put(kind, token, { ...payload }, seconds),
    find: async (token) => payloadOf(token, await tokens.find(kind, token)),
    async findByUserCode(code) {
      const stored = await tokens.findByUserCode(kind, code);
      return payloadOf(String(stored?.payload.jti), stored);
    },
    // `revokeByGrantId` does nothing, because the end of the grant ends its tokens. A second use of a token
    // revokes the grant.
    async consume(token) {
      if (await tokens.consume(token)) return;
      const stored = await tokens.find(kind, token);
      if (stored?.grant) await grants.revoke(stored.grant);
      throw new InvalidGrant(
        'the token or code was used by another request at the same time; start a new authorization',
      );
    },
    async destroy(token) {
      await tokens.remove(token);
      if (kind === 'AccessToken') forget();
    },
  };
}
