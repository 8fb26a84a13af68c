// A client of the authorization server, whichever way it became known: registered by an admin, by itself, by a document at the address
// that is its id, or built in.
import type { ClientKind } from '../../identity/grants/contract.ts';

/** What a client can exchange for tokens; RFC 6749 §4.1 and §6, RFC 8628 §3.4. */
export const grantTypes = [
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
] as const;
export type GrantType = (typeof grantTypes)[number];

export interface OAuthClient {
  /** Its `client_id`: `app_…`, `reg_…`, an https address, or the word of one that is built in. */
  readonly id: string;
  readonly kind: ClientKind;
  /** What people are shown. Of a client that nobody here registered it is what the client says of itself. */
  readonly name: string;
  /** An https address; null where it names none. */
  readonly homepage: string | null;
  readonly redirectUris: readonly string[];
  /** Whether it proves who it is with a secret. */
  readonly confidential: boolean;
  readonly grantTypes: readonly GrantType[];
  /** The workspace whose admin registered it; null for all but apps, and for those that are built in. */
  readonly registeredIn: string | null;
}

/** What a client that is refused did wrong, with the code of RFC 7591 §3.2.2. The message names the fix. */
export class ClientRefused extends Error {
  readonly code: 'invalid_redirect_uri' | 'invalid_client_metadata';

  constructor(code: ClientRefused['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ClientRefused';
    this.code = code;
  }
}

/** Whether the members of a workspace can take its name for true: one of their own admins registered it, or it is part of Tatami. */
export function isVerifiedIn({ kind, registeredIn }: OAuthClient, workspaceId: string): boolean {
  return kind === 'app' && (registeredIn === null || registeredIn === workspaceId);
}

/**
 * The client in the words of RFC 7591 §2, as the protocol library takes them. The secret of a confidential one is kept nowhere: what
 * stands in its place opens nothing, and `Clients.proves` compares in the library's stead.
 */
export function protocolMetadata(client: OAuthClient) {
  const { id, name, homepage, redirectUris, confidential } = client;
  return {
    client_id: id,
    client_name: name,
    ...(homepage === null ? {} : { client_uri: homepage }),
    redirect_uris: [...redirectUris],
    // Of a native client the library lets the ports of loopback addresses be any.
    application_type: redirectUris.every((uri) => uri.startsWith('https:')) ? 'web' : 'native',
    grant_types: [...client.grantTypes],
    response_types: client.grantTypes.includes('authorization_code') ? ['code'] : [],
    token_endpoint_auth_method: confidential ? 'client_secret_basic' : 'none',
    ...(confidential ? { client_secret: 'only its hash is kept' } : {}),
  };
}
