// Rules for requests of plugins to other servers: which requests a manifest permits, and where a secret can
// be sent. All URLs go through the parser for outgoing requests, so that the approved target is the requested
// one.
import {
  netMethods,
  type NetRequest,
  type PluginManifest,
  type SecretRequest,
} from '../../../../sdk/plugin/manifest.ts';
import { EgressError } from '../../../platform/lib/egress/error.ts';
import {
  isReservedHeader,
  isWithin,
  requireOrigin,
  requirePath,
  requireSecretHeader,
} from '../../../platform/lib/egress/permission.ts';
import { parseTarget } from '../../../platform/lib/egress/target.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import type { Sealing } from '../../../platform/lib/secrets/sealing.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { CallError } from '../host-calls/gateway.ts';
import type { Install } from '../installs/model.ts';

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
    requireOrigin(`${at}.origin`, origin);
    if (path !== undefined) requirePath(`${at}.path`, path);
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
  requireSecretHeader(`${at}.header`, header);
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

const bodyBytesMax = 256 * 1024;
const headersMax = 50;

interface GuestRequest {
  readonly method: (typeof netMethods)[number];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** @throws CallError validation_failed, quota_exceeded */
function readRequest(input: unknown): GuestRequest {
  const { url, method = 'GET', headers = {}, body = null } = objectOf(input);
  if (typeof url !== 'string') throw invalid('The URL must be a string.');
  const known = netMethods.find((one) => one === method);
  if (!known) throw invalid(`The method must be one of ${netMethods.join(', ')}.`);
  return { method: known, url, headers: headersOf(headers), body: bodyOf(known, body) };
}

function bodyOf(method: GuestRequest['method'], body: unknown): string | null {
  if (body === null) return null;
  if (typeof body !== 'string') throw invalid('The body must be a string.');
  if (method === 'GET' || method === 'HEAD')
    throw invalid(`A ${method} request cannot have a body. Remove the body, or use another method.`);
  if (Buffer.byteLength(body) > bodyBytesMax)
    throw new CallError(
      'quota_exceeded',
      `The body of a request can have at most ${bodyBytesMax} bytes. Send less data per request.`,
    );
  return body;
}

function headersOf(input: unknown): Record<string, string> {
  const entries = Object.entries(objectOf(input));
  if (entries.length > headersMax)
    throw invalid(`A request can have at most ${headersMax} headers. Remove some of them.`);
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of entries) {
    if (typeof value !== 'string') throw invalid('Header values must be strings.');
    headers[name] = value;
  }
  return headers;
}

function objectOf(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw invalid('The request and its headers must be objects.');
  return value as Record<string, unknown>;
}

function invalid(message: string): CallError {
  return new CallError('validation_failed', message);
}

/** A request that the manifest permits, without the values of its secrets. */
export interface PermittedRequest extends GuestRequest {
  readonly origin: string;
  readonly net: NetRequest;
  readonly inHeaders: ReadonlyMap<string, HeaderSecret>;
}

interface Sender {
  readonly scope: Scope;
  readonly install: Install;
  readonly sealing: Sealing;
  /** Origin of this server. */
  readonly ownOrigin: string;
}

/** @param input untrusted request of the guest. @throws CallError */
export function permittedRequest(
  input: unknown,
  { scope, install, sealing, ownOrigin }: Sender,
): PermittedRequest {
  const request = readRequest(input);
  const { manifest } = install;
  const { url, origin, net } = permit(manifest.net ?? [], request);
  if (origin === ownOrigin) throw denied('The request goes to this server. Use ctx instead.');
  const reserved = Object.keys(request.headers).find(isReservedHeader);
  if (reserved !== undefined)
    throw denied(`The header ${reserved} cannot be set by a plugin. Remove it from the request.`);
  const permitted = { ...request, url, origin, net };
  const placeholders = placeholdersOf(sealing, scope, install);
  return { ...permitted, inHeaders: findSecrets(install, placeholders, permitted) };
}

/**
 * Returns the URL without its fragment, and the entry of the manifest that covers the request.
 * @throws CallError egress_denied
 */
function permit(
  net: readonly NetRequest[],
  { method, url: text }: GuestRequest,
): { readonly url: string; readonly origin: string; readonly net: NetRequest } {
  try {
    parseTarget(text);
  } catch (error) {
    if (error instanceof EgressError) throw denied(error.message);
    throw error;
  }
  const url = new URL(text);
  url.hash = '';
  const ofOrigin = net.filter(({ origin }) => origin === url.origin);
  if (ofOrigin.length === 0)
    throw denied(
      `"net" in the manifest does not include ${url.origin}${net.length === 0 ? '' : `, only ${net.map(({ origin }) => origin).join(', ')}`}. Add the origin to "net".`,
    );
  const entry = ofOrigin.find((one) => isCovered(one, method, url.pathname));
  if (!entry)
    throw denied(
      `"net" in the manifest does not include ${method} ${url.pathname} for ${url.origin}. Add the method and path to "net".`,
    );
  return { url: url.href, origin: url.origin, net: entry };
}

export function denied(message: string): CallError {
  return new CallError('egress_denied', message);
}

function isCovered({ methods, path = '/' }: NetRequest, method: string, pathname: string): boolean {
  if (methods && !methods.some((one) => one === method)) return false;
  return isWithin(path, pathname);
}

/**
 * The tag is unguessable, so that issue text cannot contain a placeholder and cause a request to be refused.
 * The placeholder is stable for an install.
 */
function placeholderOf(sealing: Sealing, scope: Scope, installId: string, name: string): string {
  const tag = sealing.sign(`${scope.workspaceId}/${installId}/${name}`, 'plugin-secret-placeholder');
  return `tatami-secret-${name}-${tag}`;
}

/** Placeholders of all secrets that a manifest declares, by name. */
type Placeholders = Readonly<Record<string, string>>;

function placeholdersOf(sealing: Sealing, scope: Scope, { id, manifest }: Install): Placeholders {
  return Object.fromEntries(
    Object.keys(manifest.secrets ?? {}).map((name) => [name, placeholderOf(sealing, scope, id, name)]),
  );
}

export interface SecretsForGuest {
  readonly refs: Placeholders;
  readonly set: readonly string[];
}

/** Returns the secrets that a run can use; undefined if the plugin declares none. */
export function secretsForGuest(
  sealing: Sealing,
  scope: Scope,
  install: Install,
): SecretsForGuest | undefined {
  if (!install.manifest.secrets) return undefined;
  const refs = placeholdersOf(sealing, scope, install);
  return { refs, set: Object.keys(install.secretsSet).filter((name) => Object.hasOwn(refs, name)) };
}

interface HeaderSecret {
  readonly name: string;
  readonly request: SecretRequest;
}

/**
 * Returns the headers that hold a secret, by the header name in the request.
 * @throws CallError egress_denied if a placeholder is anywhere else
 */
function findSecrets(
  install: Install,
  placeholders: Placeholders,
  { origin, url, headers, body }: Omit<PermittedRequest, 'inHeaders'>,
): ReadonlyMap<string, HeaderSecret> {
  const { secrets = {} } = install.manifest;
  const byHeader = new Map<string, HeaderSecret>();
  for (const [name, placeholder] of Object.entries(placeholders)) {
    const request = secrets[name]!;
    const elsewhere = [url, body ?? '', ...Object.keys(headers)].some((text) => holds(text, placeholder));
    if (elsewhere) throw misplaced(name, request, 'The placeholder is in the URL, the body or a header name');
    for (const [header, value] of Object.entries(headers)) {
      if (!holds(value, placeholder)) continue;
      if (header.toLowerCase() !== request.header.toLowerCase())
        throw misplaced(name, request, `The placeholder is in the header ${header}`);
      if (!request.hosts.includes(origin)) throw misplaced(name, request, `The request goes to ${origin}`);
      const { pathname } = new URL(url);
      if (!isWithin(pathOf(install, name), pathname))
        throw misplaced(name, request, `The path ${pathname} is outside of the path of its host`);
      if (value !== placeholder && value !== formatted(request, placeholder))
        throw misplaced(name, request, 'The header value has other text besides the placeholder');
      byHeader.set(header, { name, request });
    }
  }
  return byHeader;
}

/** Path that a secret can be sent to. Hosts of automations can share an origin, and each has its own path. */
function pathOf({ hosts }: Install, secret: string): string {
  const host = [...(hosts?.values() ?? [])].find((one) => one.secret === secret);
  return host?.path ?? '/';
}

const holds = (text: string, placeholder: string): boolean =>
  text.toLowerCase().includes(placeholder.toLowerCase());

export function formatted({ format = '{}' }: SecretRequest, secret: string): string {
  // The replacement is a function, because `replace` interprets `$&` in a string.
  return format.replace('{}', () => secret);
}

function misplaced(name: string, { header, hosts }: SecretRequest, why: string): CallError {
  return denied(
    `The secret ${name} can be sent only in the header ${header} to ${hosts.join(', ')}. ${why}.`,
  );
}

/**
 * Returns the Base64 forms of a secret without the characters that depend on adjacent bytes, so that the
 * secret is found inside other encoded text.
 */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.from(`${'\0'.repeat(offset)}${secret}`);
    const whole = bytes.toString('base64').replace(/=+$/, '');
    const isExact = bytes.length % 3 === 0;
    const form = whole.slice(Math.ceil((offset * 8) / 6), isExact ? undefined : -1);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** Returns the forms in which a receiver may echo a secret, longest first. */
function formsOf(secret: string): string[] {
  const percent = encodeURIComponent(secret);
  const hex = Buffer.from(secret).toString('hex');
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = new Set([
    secret,
    json,
    json.replaceAll('/', '\\/'),
    percent,
    percent.replaceAll('%20', '+'),
    hex,
    hex.toUpperCase(),
    ...base64Forms(secret),
  ]);
  return [...forms].sort((a, b) => b.length - a.length);
}

/**
 * Redacts secrets in responses, because a receiver may echo them and the guest can write all data that it
 * reads.
 * @param secrets values by name; at least 8 characters each, so that no ordinary text matches
 */
export function createRedact(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const forms = [...secrets].flatMap(([name, secret]) =>
    formsOf(secret).map((form) => ({ form, shown: `[secret ${name}]` })),
  );
  return (text) => forms.reduce((rest, { form, shown }) => rest.replaceAll(form, () => shown), text);
}
