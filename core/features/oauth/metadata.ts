// Paths, scopes and resources of the authorization server, and its discovery documents: authorization server
// metadata (RFC 8414) and protected resource metadata (RFC 9728).
import { appScopes } from '../../kernel/rights/roles.ts';
import type { Granted } from '../../kernel/http/principal.ts';
import { Type } from 'typebox';
import { defineRoute, type RawAnswer, type Route } from '../../kernel/http/route.ts';
import { grantTypes } from './clients/client.ts';

/** Relative to the base URL. */
export const paths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  introspect: '/oauth/introspect',
  register: '/oauth/register',
  deviceAuthorization: '/oauth/device',
  /** Page on which a person enters the code of a device. */
  device: '/device',
  /** Followed by the id of the authorization request. */
  consent: '/oauth/consent',
  metadata: '/.well-known/oauth-authorization-server',
} as const;

/** Scopes that clients can request, limited to those of apps in the role table. */
export const offeredScopes = appScopes;

const usual = new Set([
  ...['issues:read', 'issues:write', 'comments:read', 'comments:write', 'workflows:read', 'projects:read'],
  ...['cycles:read', 'boards:read', 'labels:read', 'teams:read', 'members:read', 'views:read'],
]);

/**
 * Default scopes of a request (RFC 6749 §3.3): reads of the tracker, and writes of issues and comments, which
 * the member can deselect.
 */
const usualScopes: readonly string[] = offeredScopes.filter((scope) => usual.has(scope));

/** Returns the supported ones of the requested scopes. Others are ignored (RFC 6749 §3.3). */
export function requestedScopes(scope: string | null | undefined): string[] {
  const requested = new Set(scope?.split(' ').filter((word) => word !== ''));
  return requested.size === 0 ? [...usualScopes] : offeredScopes.filter((one) => requested.has(one));
}

/**
 * Resource of an access token (RFC 8707): the REST API or the MCP endpoint. Each rejects tokens of the other.
 */
export type ProtectedResource = Granted['resource'];

/** Paths relative to the base URL. */
const resourcePaths: Readonly<Record<ProtectedResource, string>> = {
  api: '/api/v1',
  mcp: '/api/mcp/streamable-http',
};

const resources = Object.keys(resourcePaths) as readonly ProtectedResource[];

/** Path of protected resource metadata, followed by the path of the resource (RFC 9728 §3.1). */
const wellKnown = '/.well-known/oauth-protected-resource';

export function resourceUrl(baseUrl: string, resource: ProtectedResource): string {
  return baseUrl + resourcePaths[resource];
}

/** @returns null for a URL that is not a resource of this server */
export function resourceAt(baseUrl: string, url: string): ProtectedResource | null {
  return resources.find((resource) => resourceUrl(baseUrl, resource) === url) ?? null;
}

/** Returns the path of the metadata of a resource, relative to the base URL. */
function metadataPath(resource: ProtectedResource): string {
  return wellKnown + resourcePaths[resource];
}

/** Path of the metadata of the REST API for clients that do not append the path of the resource. */
const plainMetadataPath = wellKnown;

function serverDocument(baseUrl: string): object {
  const at = (path: string): string => baseUrl + path;
  return {
    issuer: baseUrl,
    authorization_endpoint: at(paths.authorize),
    token_endpoint: at(paths.token),
    revocation_endpoint: at(paths.revoke),
    introspection_endpoint: at(paths.introspect),
    registration_endpoint: at(paths.register),
    device_authorization_endpoint: at(paths.deviceAuthorization),
    scopes_supported: offeredScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypes,
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: at('/docs/guides/oauth'),
  };
}

function resourceDocument(baseUrl: string, resource: ProtectedResource): object {
  return {
    resource: resourceUrl(baseUrl, resource),
    authorization_servers: [baseUrl],
    scopes_supported: offeredScopes,
    bearer_methods_supported: ['header'],
    resource_name: resource === 'api' ? 'Tatami API' : 'Tatami for agents (MCP)',
    resource_documentation: `${baseUrl}/docs/guides/${resource === 'api' ? 'oauth' : 'agents'}`,
  };
}

/** Documents change only with the version or settings of the server. */
const cached = { 'cache-control': 'public, max-age=3600' };

export function metadataRoutes(baseUrl: string): Route[] {
  const document = (path: string, name: string, summary: string, content: object): Route => {
    const answer: RawAnswer = {
      contentType: 'application/json; charset=utf-8',
      headers: cached,
      body: JSON.stringify(content),
    };
    return defineRoute({
      method: 'GET',
      path,
      name,
      summary,
      scope: null,
      limit: 'read',
      responses: { 200: Type.Object({}) },
      contentType: answer.contentType,
      raw: () => answer,
    });
  };
  return [
    document(
      paths.metadata,
      'oauth.metadata',
      'Get the authorization server metadata (RFC 8414)',
      serverDocument(baseUrl),
    ),
    document(
      plainMetadataPath,
      'oauth.resource',
      'Get the protected resource metadata of the API (RFC 9728)',
      resourceDocument(baseUrl, 'api'),
    ),
    ...resources.map((resource) =>
      document(
        metadataPath(resource),
        `oauth.resource_${resource}`,
        `Get the protected resource metadata of ${resource === 'api' ? 'the API' : 'the MCP endpoint'} (RFC 9728)`,
        resourceDocument(baseUrl, resource),
      ),
    ),
  ];
}
