// What access tokens are for (RFC 8707): the REST API, or the endpoint for agents. A token for the one is refused by the other.
import type { Granted } from '../http/principal.ts';

export type Resource = Granted['resource'];

/** Below the base address. */
const paths: Readonly<Record<Resource, string>> = { api: '/api/v1', mcp: '/api/mcp/streamable-http' };

export const resources = Object.keys(paths) as readonly Resource[];

/** Where metadata of a protected resource stands; the path of the resource follows (RFC 9728 §3.1). */
const wellKnown = '/.well-known/oauth-protected-resource';

export function resourceUrl(baseUrl: string, resource: Resource): string {
  return baseUrl + paths[resource];
}

/** @returns null for an identifier that is none of this server's */
export function resourceAt(baseUrl: string, url: string): Resource | null {
  return resources.find((resource) => resourceUrl(baseUrl, resource) === url) ?? null;
}

/** Of its metadata document, below the base address. */
export function metadataPath(resource: Resource): string {
  return wellKnown + paths[resource];
}

/** The document of the REST API under the plain name, for clients that do not append the path. */
export const plainMetadataPath = wellKnown;
