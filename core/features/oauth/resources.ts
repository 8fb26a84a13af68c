// Resources for access tokens (RFC 8707): the REST API and the MCP endpoint. Each rejects tokens of the
// other.
import type { Granted } from '../../kernel/http/principal.ts';

export type ProtectedResource = Granted['resource'];

/** Paths relative to the base URL. */
const paths: Readonly<Record<ProtectedResource, string>> = {
  api: '/api/v1',
  mcp: '/api/mcp/streamable-http',
};

export const resources = Object.keys(paths) as readonly ProtectedResource[];

/** Path of protected resource metadata, followed by the path of the resource (RFC 9728 §3.1). */
const wellKnown = '/.well-known/oauth-protected-resource';

export function resourceUrl(baseUrl: string, resource: ProtectedResource): string {
  return baseUrl + paths[resource];
}

/** @returns null for a URL that is not a resource of this server */
export function resourceAt(baseUrl: string, url: string): ProtectedResource | null {
  return resources.find((resource) => resourceUrl(baseUrl, resource) === url) ?? null;
}

/** Returns the path of the metadata of a resource, relative to the base URL. */
export function metadataPath(resource: ProtectedResource): string {
  return wellKnown + paths[resource];
}

/** Path of the metadata of the REST API for clients that do not append the path of the resource. */
export const plainMetadataPath = wellKnown;
