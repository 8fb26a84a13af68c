// Validates the network permissions of a manifest and checks requests against them. All URLs go through the
// parser for outgoing requests, so that the approved target is the requested one.
import type { NetRequest, PluginManifest, SecretRequest } from '../../../../sdk/plugin/manifest.ts';
import { EgressError } from '../../../platform/lib/egress/error.ts';
import { parseTarget } from '../../../platform/lib/egress/target.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';

/** Headers that the host sets, that frame the message, or that hold cookies or proxy credentials. */
const reservedHeaders: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade'],
  ...['expect', 'proxy-authorization', 'proxy-authenticate', 'proxy-connection', 'accept-encoding'],
  ...['cookie', 'cookie2', 'set-cookie', 'idempotency-key', 'http2-settings'],
]);
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Sequences that servers may decode again, reaching another path than the one compared. */
const readTwoWays = /%(?:25)*(?:2e|2f|5c|00)|\/\/|;/i;

export interface NetRules {
  /** @throws EgressError if the server would not send to this URL */
  checkUrl(url: string): Promise<void>;
  /** Public base URL of this server. */
  readonly baseUrl: string;
}

/** @throws ApiError validation_failed for the first request or secret that is invalid on every server */
export function checkNetShape({ net = [], secrets = {} }: PluginManifest): void {
  for (const [index, { origin, path }] of net.entries()) {
    const at = `package.manifest.net.${index}`;
    const normal = originOf(origin);
    if (normal !== origin)
      throw invalidField(`${at}.origin`, 'invalid_format', {
        why: `${JSON.stringify(origin)} is not an origin.`,
        fix: `Use only scheme, host and port${normal === null ? ': https://api.acme.dev' : `: ${normal}`}.`,
      });
    if (path !== undefined && (readTwoWays.test(path) || new URL(path, origin).pathname !== path))
      throw invalidField(`${at}.path`, 'invalid_format', {
        why: 'The path is ambiguous.',
        fix: 'Use a path without query, dot segments, double slashes and encoded slashes, such as /v1/.',
      });
  }
  for (const [name, request] of Object.entries(secrets))
    checkSecret(`package.manifest.secrets.${name}`, request, net);
}

function checkSecret(at: string, { hosts, header }: SecretRequest, net: readonly NetRequest[]): void {
  const stranger = hosts.findIndex((host) => !net.some(({ origin }) => origin === host));
  if (stranger >= 0)
    throw invalidField(`${at}.hosts.${stranger}`, 'not_found', {
      why: `${hosts[stranger]} is not an origin in "net".`,
      fix: 'Add the origin to "net", or remove it here.',
    });
  if (!headerName.test(header) || isReserved(header))
    throw invalidField(`${at}.header`, 'invalid_format', {
      why: `A secret cannot be sent in the header ${JSON.stringify(header)}.`,
      fix: 'Use a header that the receiver accepts, such as authorization or x-api-key.',
    });
}

/** Checks the origins against this server's configuration. @throws ApiError validation_failed */
export async function checkNet({ net = [] }: PluginManifest, rules: NetRules): Promise<void> {
  for (const [index, { origin }] of net.entries()) {
    const at = `package.manifest.net.${index}.origin`;
    if (origin === new URL(rules.baseUrl).origin)
      throw invalidField(at, 'conflict', {
        why: 'The origin is this server.',
        fix: 'Use ctx for requests to this server.',
      });
    try {
      await rules.checkUrl(`${origin}/`);
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      throw invalidField(at, 'invalid_format', {
        why: `This server cannot send to the origin: ${error.message}`,
      });
    }
  }
}

export function isReserved(header: string): boolean {
  return reservedHeaders.has(header.toLowerCase());
}

/** Returns null if the URL is invalid or ambiguous. */
function originOf(url: string): string | null {
  try {
    parseTarget(url);
    return new URL(url).origin;
  } catch {
    return null;
  }
}

interface PermittedHost {
  /** URL to request, without its fragment. */
  readonly url: string;
  readonly origin: string;
  readonly request: NetRequest;
}

/** @returns the entry of the manifest that covers the request, or a sentence that says why there is none */
export function permit(net: readonly NetRequest[], method: string, text: string): PermittedHost | string {
  try {
    parseTarget(text);
  } catch (error) {
    if (error instanceof EgressError) return error.message;
    throw error;
  }
  const url = new URL(text);
  url.hash = '';
  const ofOrigin = net.filter(({ origin }) => origin === url.origin);
  if (ofOrigin.length === 0)
    return `"net" in the manifest does not include ${url.origin}${net.length === 0 ? '' : `, only ${net.map(({ origin }) => origin).join(', ')}`}. Add the origin to "net".`;
  const request = ofOrigin.find((one) => isCovered(one, method, url.pathname));
  if (!request)
    return `"net" in the manifest does not include ${method} ${url.pathname} for ${url.origin}. Add the method and path to "net".`;
  return { url: url.href, origin: url.origin, request };
}

function isCovered({ methods, path = '/' }: NetRequest, method: string, pathname: string): boolean {
  if (methods && !methods.some((one) => one === method)) return false;
  if (path === '/') return true;
  if (readTwoWays.test(pathname)) return false;
  return path.endsWith('/') ? pathname.startsWith(path) : pathname === path;
}
