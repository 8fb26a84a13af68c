// Clients of the authorization server: registered by an admin, self-registered, identified by a metadata
// document, or built in.
import type { ClientType } from '../contract.ts';
import { isHomepage, faultOfRedirectUri, redirectHostOf, redirectUrisMax } from '../app-rules.ts';
import { displayNameFault, isLikeOurs } from '../../../platform/lib/display-name.ts';

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

export type SaidOfItself = Pick<
  OAuthClient,
  'name' | 'homepage' | 'redirectUris' | 'confidential' | 'grantTypes'
>;

type ClientMetadata = Readonly<Record<string, unknown>>;

interface ClientTerms {
  /** Allowed values of `token_endpoint_auth_method`; the first is the default. */
  readonly methods: readonly string[];
  /** Name for metadata without `client_name`; default: the host of the first redirect URI. */
  readonly nameElse?: string;
}

/**
 * Validates client metadata (RFC 7591 §2) of a registration or a document. Other members are ignored, as RFC
 * 7591 §3.2.1 allows: scopes are requested with each authorization, and logos of unverified clients are not
 * shown.
 * @throws ClientRefused
 */
export function readMetadata(value: unknown, { methods, nameElse }: ClientTerms): SaidOfItself {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused('Client metadata must be a JSON object.');
  const input = value as ClientMetadata;
  const types = readGrantTypes(input);
  const redirectUris = readRedirectUris(input, types.includes('authorization_code'));
  const method = input.token_endpoint_auth_method ?? methods[0];
  if (typeof method !== 'string' || !methods.includes(method))
    throw refused(
      `token_endpoint_auth_method: ${String(method)} is not supported. Use ${methods.join(' or ')}.`,
    );
  const first = redirectUris[0];
  return {
    name: readName(input, nameElse ?? (first === undefined ? 'Unnamed client' : redirectHostOf(first))),
    homepage: readHomepage(input),
    redirectUris,
    confidential: method !== 'none',
    grantTypes: types,
  };
}

function readGrantTypes({
  grant_types: input = ['authorization_code'],
  response_types: answers,
}: ClientMetadata) {
  const requestedTypes = listOf('grant_types', input);
  const types: readonly GrantType[] = grantTypes.filter((type) => requestedTypes.includes(type));
  if (!types.some((type) => type !== 'refresh_token'))
    throw refused(
      `grant_types: give at least one of ${grantTypes.filter((type) => type !== 'refresh_token').join(', ')}.`,
    );
  const wanted = answers === undefined ? [] : listOf('response_types', answers);
  if (wanted.some((answer) => answer !== 'code'))
    throw refused('response_types: give ["code"], the only supported value.');
  return types;
}

function readRedirectUris({ redirect_uris: input }: ClientMetadata, isNeeded: boolean): string[] {
  if (input === undefined && !isNeeded) return [];
  const isList = Array.isArray(input) && input.every((uri) => typeof uri === 'string');
  if (!isList || input.length > redirectUrisMax || (isNeeded && input.length === 0))
    throw new ClientRefused(
      'invalid_redirect_uri',
      `redirect_uris: give a list of 1 to ${redirectUrisMax} URIs.`,
    );
  const uris = input as string[];
  for (const uri of uris) {
    const wrong = faultOfRedirectUri(uri);
    if (wrong)
      throw new ClientRefused(
        'invalid_redirect_uri',
        `redirect_uris: ${[wrong.why, wrong.fix].filter(Boolean).join(' ')}`,
      );
  }
  return [...new Set(uris)];
}

function readName({ client_name: input }: ClientMetadata, otherwise: string): string {
  if (input === undefined || input === '') return otherwise;
  const fault = typeof input === 'string' ? displayNameFault(input) : 'is not a string';
  if (fault !== null)
    throw refused(`client_name: the name ${fault}. Give a name that is readable in one line.`);
  const name = input as string;
  if (isLikeOurs(name))
    throw refused(
      `client_name: ${name} could be mistaken for a part of Tatami. Begin the name with your own, such as "Acme for Tatami".`,
    );
  return name;
}

function readHomepage({ client_uri: input }: ClientMetadata): string | null {
  return typeof input === 'string' && input.length <= 500 && isHomepage(input) ? input : null;
}

function listOf(name: string, input: unknown): string[] {
  if (!Array.isArray(input) || input.length > 20 || !input.every((one) => typeof one === 'string'))
    throw refused(`${name}: give an array of strings.`);
  return input as string[];
}

function refused(message: string): ClientRefused {
  return new ClientRefused('invalid_client_metadata', message);
}
