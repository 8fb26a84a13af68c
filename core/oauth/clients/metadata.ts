// Validates client metadata (RFC 7591 §2) of a registration or a document. Unused members are ignored, as RFC 7591 §3.2.1 allows: scopes
// are requested with each authorization, and logos of unknown clients are not shown.
import { isHomepage } from '../../identity/oauth-apps/rules.ts';
import {
  faultOfRedirectUri,
  redirectHostOf,
  redirectUrisMax,
} from '../../identity/oauth-apps/redirect-uris.ts';
import { displayNameFault, isLikeOurs } from '../../lib/shown-name.ts';
import { ClientRefused, grantTypes, type GrantType, type OAuthClient } from './client.ts';

export type SaidOfItself = Pick<
  OAuthClient,
  'name' | 'homepage' | 'redirectUris' | 'confidential' | 'grantTypes'
>;

type Given = Readonly<Record<string, unknown>>;

export interface Terms {
  /** Allowed values of `token_endpoint_auth_method`; the first is the default. */
  readonly methods: readonly string[];
  /** Default name; absent to use the host of the first redirect URI. */
  readonly nameElse?: string;
}

/** @throws ClientRefused */
export function readMetadata(value: unknown, { methods, nameElse }: Terms): SaidOfItself {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused('Client metadata must be a JSON object.');
  const given = value as Given;
  const types = readGrantTypes(given);
  const redirectUris = readRedirectUris(given, types.includes('authorization_code'));
  const method = given.token_endpoint_auth_method ?? methods[0];
  if (typeof method !== 'string' || !methods.includes(method))
    throw refused(
      `token_endpoint_auth_method: ${String(method)} is not supported. Use ${methods.join(' or ')}.`,
    );
  const first = redirectUris[0];
  return {
    name: readName(given, nameElse ?? (first === undefined ? 'Unnamed client' : redirectHostOf(first))),
    homepage: readHomepage(given),
    redirectUris,
    confidential: method !== 'none',
    grantTypes: types,
  };
}

function readGrantTypes({ grant_types: given = ['authorization_code'], response_types: answers }: Given) {
  const asked = listOf('grant_types', given);
  const types: readonly GrantType[] = grantTypes.filter((type) => asked.includes(type));
  if (!types.some((type) => type !== 'refresh_token'))
    throw refused(
      `grant_types: give at least one of ${grantTypes.filter((type) => type !== 'refresh_token').join(', ')}.`,
    );
  const wanted = answers === undefined ? [] : listOf('response_types', answers);
  if (wanted.some((answer) => answer !== 'code'))
    throw refused('response_types: only ["code"] is supported.');
  return types;
}

function readRedirectUris({ redirect_uris: given }: Given, isNeeded: boolean): string[] {
  if (given === undefined && !isNeeded) return [];
  const isList = Array.isArray(given) && given.every((uri) => typeof uri === 'string');
  if (!isList || given.length > redirectUrisMax || (isNeeded && given.length === 0))
    throw new ClientRefused(
      'invalid_redirect_uri',
      `redirect_uris: give a list of 1 to ${redirectUrisMax} URIs.`,
    );
  const uris = given as string[];
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

function readName({ client_name: given }: Given, otherwise: string): string {
  if (given === undefined || given === '') return otherwise;
  const fault = typeof given === 'string' ? displayNameFault(given) : 'is not a string';
  if (fault !== null)
    throw refused(`client_name: the name ${fault}. Give a name that is readable in one line.`);
  const name = given as string;
  if (isLikeOurs(name))
    throw refused(
      `client_name: ${name} could be mistaken for a part of Tatami. Begin the name with your own, such as "Acme for Tatami".`,
    );
  return name;
}

function readHomepage({ client_uri: given }: Given): string | null {
  return typeof given === 'string' && given.length <= 500 && isHomepage(given) ? given : null;
}

function listOf(name: string, given: unknown): string[] {
  if (!Array.isArray(given) || given.length > 20 || !given.every((one) => typeof one === 'string'))
    throw refused(`${name}: give an array of strings.`);
  return given as string[];
}

function refused(message: string): ClientRefused {
  return new ClientRefused('invalid_client_metadata', message);
}
