// Resources for access tokens (RFC 8707): the REST API and the MCP endpoint. Each rejects tokens for the other.
import type { Granted } from '../http/principal.ts';

export type ProtectedResource = Granted['resource'];

/** Paths relative to the base URL. */
const paths: Readonly<Record<ProtectedResource, string>> = {
  api: '/api/v1',
  mcp: '/api/mcp/streamable-http',
};

export const resources = Object.keys(paths) as readonly ProtectedResource[];

/** Prefix of the protected resource metadata; the path of the resource follows (RFC 9728 §3.1). */
const wellKnown = '/.well-known/oauth-protected-resource';

export function resourceUrl(baseUrl: string, resource: ProtectedResource): string {
  return baseUrl + paths[resource];
}

/** @returns null for a URL that is no resource of this server */
export function resourceAt(baseUrl: string, url: string): ProtectedResource | null {
  return resources.find((resource) => resourceUrl(baseUrl, resource) === url) ?? null;
}

/** Path of the metadata document of a resource, relative to the base URL. */
export function metadataPath(resource: ProtectedResource): string {
  return wellKnown + paths[resource];
}

/** Path of the metadata of the REST API, for clients that do not append the resource path. */
export const plainMetadataPath = wellKnown;
