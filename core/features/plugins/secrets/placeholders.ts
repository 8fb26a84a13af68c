// Creates the placeholders that a plugin uses instead of its secrets, and finds them in requests. A
// placeholder is replaced only in the declared header of a request to a declared host.
import type { PluginManifest, SecretRequest } from '../../../../sdk/plugin/manifest.ts';
import type { Sealing } from '../../../platform/lib/secrets/sealing.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { CallError } from '../host-calls/gateway-call.ts';
import type { Install } from '../installs/schema.ts';

/**
 * The tag is unguessable, so that issue text cannot contain a placeholder and cause a request to be refused.
 * The placeholder is stable for an install.
 */
function placeholderOf(sealing: Sealing, scope: Scope, installId: string, name: string): string {
  const tag = sealing.sign(`${scope.workspaceId}/${installId}/${name}`, 'plugin-secret-placeholder');
  return `tatami-secret-${name}-${tag}`;
}

/** Placeholders of all secrets that a manifest declares, by name. */
export type Placeholders = Readonly<Record<string, string>>;

export function placeholdersOf(sealing: Sealing, scope: Scope, { id, manifest }: Install): Placeholders {
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

export interface OutgoingText {
  readonly origin: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface HeaderSecret {
  readonly name: string;
  readonly request: SecretRequest;
}

/**
 * Returns the headers that hold a secret, by the header name in the request.
 * @throws CallError egress_denied if a placeholder is anywhere else
 */
export function findSecrets(
  { secrets = {} }: PluginManifest,
  placeholders: Placeholders,
  { origin, url, headers, body }: OutgoingText,
): ReadonlyMap<string, HeaderSecret> {
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
      if (value !== placeholder && value !== formatted(request, placeholder))
        throw misplaced(name, request, 'The header value has other text besides the placeholder');
      byHeader.set(header, { name, request });
    }
  }
  return byHeader;
}

const holds = (text: string, placeholder: string): boolean =>
  text.toLowerCase().includes(placeholder.toLowerCase());

export function formatted({ format = '{}' }: SecretRequest, secret: string): string {
  // The replacement is a function, because `replace` interprets `$&` in a string.
  return format.replace('{}', () => secret);
}

function misplaced(name: string, { header, hosts }: SecretRequest, why: string): CallError {
  return new CallError(
    'egress_denied',
    `The secret ${name} can be sent only in the header ${header} to ${hosts.join(', ')}. ${why}.`,
  );
}
