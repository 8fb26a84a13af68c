// Discovery documents: authorization server metadata (RFC 8414) and protected resource metadata (RFC 9728).
import { Type } from 'typebox';
import { defineRoute, type RawAnswer, type Route } from '../../kernel/http/route.ts';
import { grantTypes } from './clients/client.ts';
import { offeredScopes } from './offered.ts';
import { paths } from './paths.ts';
import {
  metadataPath,
  plainMetadataPath,
  resources,
  resourceUrl,
  type ProtectedResource,
} from './resources.ts';

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
