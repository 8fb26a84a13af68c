// Clients of the authorization server: registered by an admin, self-registered, identified by a metadata
// document, or built in.
import type { ClientType } from '../contract.ts';

/** Grant types of RFC 6749 §4.1 and §6, and of RFC 8628 §3.4. */
export const grantTypes = [
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
] as const;
export type GrantType = (typeof grantTypes)[number];

export interface OAuthClient {
  /** `client_id`: `app_…`, `reg_…`, an https URL, or the name of a built-in client. */
  readonly id: string;
  readonly kind: ClientType;
  /** Name shown to people; self-declared by `registered` and `document` clients. */
  readonly name: string;
  /** https URL; null for none. */
  readonly homepage: string | null;
  readonly redirectUris: readonly string[];
  /** True for a client that authenticates with a secret. */
  readonly confidential: boolean;
  readonly grantTypes: readonly GrantType[];
  /** Id of the workspace whose admin registered the client; null for all other clients. */
  readonly registeredIn: string | null;
}

/** Rejection of a client, with an error code of RFC 7591 §3.2.2. The message contains the remedy. */
export class ClientRefused extends Error {
  readonly code: 'invalid_redirect_uri' | 'invalid_client_metadata';

  constructor(code: ClientRefused['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ClientRefused';
    this.code = code;
  }
}

/**
 * Returns true if people of the workspace can trust the name, because the client is built in or one of their
 * admins registered it.
 */
export function isVerifiedIn({ kind, registeredIn }: OAuthClient, workspaceId: string): boolean {
  return kind === 'app' && (registeredIn === null || registeredIn === workspaceId);
}

/**
 * Returns the metadata of RFC 7591 §2 for the protocol library. The secret is a placeholder, because only
 * hashes are stored; `Clients.proves` compares secrets.
 */
export function protocolMetadata(client: OAuthClient) {
  const { id, name, homepage, redirectUris, confidential } = client;
  return {
    client_id: id,
    client_name: name,
    ...(homepage === null ? {} : { client_uri: homepage }),
    redirect_uris: [...redirectUris],
    // The library accepts any port of a loopback URI only for native clients.
    application_type: redirectUris.every((uri) => uri.startsWith('https:')) ? 'web' : 'native',
    grant_types: [...client.grantTypes],
    response_types: client.grantTypes.includes('authorization_code') ? ['code'] : [],
    token_endpoint_auth_method: confidential ? 'client_secret_basic' : 'none',
    ...(confidential ? { client_secret: 'only its hash is kept' } : {}),
  };
}
