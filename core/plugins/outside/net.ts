// What a manifest may ask of the network, and whether a request is one that it asked for. Addresses are compared as they are read by the
// one parser of outgoing requests, so that what was approved is what is reached.
import type { NetRequest, PluginManifest, SecretRequest } from '../../../sdk/plugin/manifest.ts';
import { EgressError } from '../../lib/egress/error.ts';
import { parseTarget } from '../../lib/egress/target.ts';
import { invalidField } from '../../lib/errors.ts';

/** What the host sets itself, what frames a message, and what carries the rights of somebody else. */
const reservedHeaders: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade'],
  ...['expect', 'proxy-authorization', 'proxy-authenticate', 'proxy-connection', 'accept-encoding'],
  ...['cookie', 'cookie2', 'set-cookie', 'idempotency-key', 'http2-settings'],
]);
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Servers decode these once more, and then read another path than the one that was compared. */
const readTwoWays = /%(?:25)*(?:2e|2f|5c|00)|\/\/|;/i;

export interface NetRules {
  /** @throws EgressError where the server would not send there */
  checkUrl(url: string): Promise<void>;
  /** Of this server, as people reach it. */
  readonly baseUrl: string;
}

/** @throws ApiError validation_failed, naming the first request or secret that no server could keep */
export function checkNetShape({ net = [], secrets = {} }: Pick<PluginManifest, 'net' | 'secrets'>): void {
  for (const [index, { origin, path }] of net.entries()) {
    const at = `package.manifest.net.${index}`;
    const normal = originOf(origin);
    if (normal !== origin)
      throw invalidField(`${at}.origin`, 'invalid_format', {
        why: `${JSON.stringify(origin)} is not an origin.`,
        fix: `Give scheme, host and port alone${normal === null ? ': https://api.acme.dev' : `: ${normal}`}.`,
      });
    if (path !== undefined && (readTwoWays.test(path) || new URL(path, origin).pathname !== path))
      throw invalidField(`${at}.path`, 'invalid_format', {
        why: 'The path can be read in two ways.',
        fix: 'Give it without query, dots, double slashes and encoded slashes: /v1/.',
      });
  }
  for (const [name, request] of Object.entries(secrets))
    checkSecret(`package.manifest.secrets.${name}`, request, net);
}

function checkSecret(at: string, { hosts, header }: SecretRequest, net: readonly NetRequest[]): void {
  const stranger = hosts.findIndex((host) => !net.some(({ origin }) => origin === host));
  if (stranger >= 0)
    throw invalidField(`${at}.hosts.${stranger}`, 'not_found', {
      why: `${hosts[stranger]} is no origin of "net".`,
      fix: 'Add it there, or leave it out.',
    });
  if (!headerName.test(header) || isReserved(header))
    throw invalidField(`${at}.header`, 'invalid_format', {
      why: `A secret cannot be sent in the header ${JSON.stringify(header)}.`,
      fix: 'Name one that the receiver reads it from, such as authorization or x-api-key.',
    });
}

/** The part that depends on the server. @throws ApiError validation_failed */
export async function checkNet({ net = [] }: Pick<PluginManifest, 'net'>, rules: NetRules): Promise<void> {
  for (const [index, { origin }] of net.entries()) {
    const at = `package.manifest.net.${index}.origin`;
    if (origin === new URL(rules.baseUrl).origin)
      throw invalidField(at, 'conflict', {
        why: 'That is this server itself.',
        fix: 'Use ctx, which knows what the plugin may do.',
      });
    try {
      await rules.checkUrl(`${origin}/`);
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      throw invalidField(at, 'invalid_format', { why: `This server sends nothing there: ${error.message}` });
    }
  }
}

export function isReserved(header: string): boolean {
  return reservedHeaders.has(header.toLowerCase());
}

/** Null for what is no URL that can be read in one way. */
function originOf(url: string): string | null {
  try {
    parseTarget(url);
    return new URL(url).origin;
  } catch {
    return null;
  }
}

export interface Permitted {
  /** As it goes over the wire; without its fragment. */
  readonly url: string;
  readonly origin: string;
  readonly request: NetRequest;
}

/** @returns the request of the manifest that covers it, or a sentence that says why there is none */
export function permit(net: readonly NetRequest[], method: string, text: string): Permitted | string {
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
    return `The manifest names no ${url.origin} under "net"${net.length === 0 ? '' : `, but ${net.map(({ origin }) => origin).join(', ')}`}.`;
  const request = ofOrigin.find((one) => isCovered(one, method, url.pathname));
  if (!request) return `The manifest does not name ${method} ${url.pathname} for ${url.origin} under "net".`;
  return { url: url.href, origin: url.origin, request };
}

function isCovered({ methods, path = '/' }: NetRequest, method: string, pathname: string): boolean {
  if (methods && !methods.some((one) => one === method)) return false;
  if (path === '/') return true;
  if (readTwoWays.test(pathname)) return false;
  return path.endsWith('/') ? pathname.startsWith(path) : pathname === path;
}
